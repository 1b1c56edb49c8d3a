"""Pages of datasets: `browse` reads, `upload` and `edit` change."""
