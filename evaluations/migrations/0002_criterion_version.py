from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0001_initial"),
        ("evaluators", "0001_initial"),
    ]

    operations = [
        migrations.RemoveField(model_name="criterion", name="source"),
        migrations.AddField(
            model_name="criterion",
            name="version",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="criteria",
                to="evaluators.evaluatorversion",
            ),
        ),
    ]
