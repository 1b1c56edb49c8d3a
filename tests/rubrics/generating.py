"""Sending the form that generates rubrics, and doing its job."""

from __future__ import annotations

import json

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from rubrics import tasks
from rubrics.models import RubricJob

PROMPT = """\
You book tables for the Blue Door restaurant and answer questions about its menu.
Dinner is served from 17:00 to 22:00. Parties of more than eight people must call.
Always repeat date, time and party size before you confirm a booking.
Never invent dishes: the menu is the only source. Stay friendly when you refuse.
Bookings open thirty days ahead and close two hours before dinner begins.
"""


def page(project, name="rubric_generate", *args) -> str:
    return reverse(name, args=[project.slug, *args])


def post(client, project, deployment, **fields):
    data = {
        "do": "generate",
        "model": deployment.ref,
        "category": "quality",
        "level": "turn",
        "name": "",
        "title": "",
        "prompt": PROMPT,
        **fields,
    }
    return client.post(page(project), data)


def asked(client, project, model, **fields) -> RubricJob:
    """The job of a form that was sent, done."""
    answer = post(client, project, model, **fields)
    assert answer.status_code == 302, answer.context["problems"]
    job = RubricJob.objects.order_by("-pk")[0]
    tasks.run_job(job.pk)
    job.refresh_from_db()
    return job


def shown(client, job) -> str:
    return client.get(page(job.project, "rubric_generation", job.ref)).content.decode()


def text_file(text=PROMPT, name="house-rules.md"):
    return SimpleUploadedFile(name, text.encode())


def answer_of(*weights, **more) -> str:
    entries = [
        {"id": f"part_{n}", "description": f"Does part {n} well.", "weight": weight}
        for n, weight in enumerate(weights)
    ]
    return json.dumps({"dimensions": entries, **more})
