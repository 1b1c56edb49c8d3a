"""Pages of models: `connections`, `deployments`, and `tests` of them."""
