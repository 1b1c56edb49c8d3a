"""A model that answers over HTTP: scripted, or the simulator."""

from __future__ import annotations

import pytest

from targets import simulator
from targets.loop import stop_loop
from targets.models import Connection, Deployment
from tests.fakes.llm import Answer, FakeLLM


@pytest.fixture
def no_loop_left():
    yield
    stop_loop()


def model_at(project, url: str, settings, *, simulated: bool = False) -> Deployment:
    settings.SIMULATOR_URL = url
    kind = Connection.Kind.SIMULATOR if simulated else Connection.Kind.OPENAI
    connection = Connection.objects.create(
        project=project, name="Here", kind=kind, base_url=url, api_key="sk-test-0123"
    )
    return Deployment.objects.create(
        connection=connection,
        slug="m",
        model="m-1",
        display_name="Model",
        price_input=1,
        price_output=2,
    )


@pytest.fixture
def llm(no_loop_left):
    with FakeLLM() as fake:
        yield fake


@pytest.fixture
def simulated(llm, project, settings) -> Deployment:
    llm.script = lambda body, _n: Answer(body=simulator.reply(body))
    return model_at(project, llm.url, settings, simulated=True)


@pytest.fixture
def model(llm, project, settings) -> Deployment:
    return model_at(project, llm.url, settings)
