from __future__ import annotations

from django.db import migrations, models


def hide_broken_ones(apps, schema_editor):
    """Until now every problem meant that a medium cannot be shown."""
    blobs = apps.get_model("blobs", "Blob").objects
    blobs.exclude(problem="").update(is_shown=False)


class Migration(migrations.Migration):
    dependencies = [("blobs", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="blob",
            name="is_shown",
            field=models.BooleanField(default=True),
        ),
        migrations.RunPython(hide_broken_ones, migrations.RunPython.noop),
    ]
