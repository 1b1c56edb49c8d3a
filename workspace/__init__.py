"""Users, projects, members, and the Django ground that every app stands on."""
