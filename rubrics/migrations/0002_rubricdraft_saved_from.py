from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubrics", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="rubricdraft",
            name="saved_from",
            field=models.CharField(blank=True, default="", max_length=32),
        ),
    ]
