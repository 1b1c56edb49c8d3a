"""Connections, model deployments and the only gateway to models."""
