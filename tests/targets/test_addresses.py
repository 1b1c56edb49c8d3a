"""Base URLs as people type them, and addresses that are never called."""

from __future__ import annotations

import os

import pytest

from assay.data.chat import ModelError
from blobs import net
from targets import addresses
from tests.fakes.llm import FakeLLM
from tests.targets.conftest import KEY, say

TYPED = [
    ("https://api.openai.com/v1", "https://api.openai.com/v1"),
    ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
    ("https://api.openai.com", "https://api.openai.com/v1"),
    ("https://api.openai.com/", "https://api.openai.com/v1"),
    ("https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1"),
    ("https://api.openai.com/v1/models", "https://api.openai.com/v1"),
    ("https://api.openai.com/v1?x=1#y", "https://api.openai.com/v1"),
    ("  HTTPS://API.OpenAI.com/v1 ", "https://api.openai.com/v1"),
    ("api.openai.com/v1", "https://api.openai.com/v1"),
    ("localhost:11434", "http://localhost:11434/v1"),
    ("127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
    ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
    ("https://host/api/", "https://host/api"),
    ("https://x.openai.azure.com/openai/v1/", "https://x.openai.azure.com/openai/v1"),
    (
        "https://generativelanguage.googleapis.com/v1beta/openai/",
        "https://generativelanguage.googleapis.com/v1beta/openai",
    ),
]


@pytest.mark.parametrize(("typed", "wanted"), TYPED)
def test_a_typed_address_is_normalised(typed, wanted):
    assert addresses.normalise_base_url(typed) == wanted
    assert addresses.normalise_base_url(wanted) == wanted


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Enter an address"),
        ("https://", "Enter an address"),
        ("https://exa mple.org", "Enter an address"),
        ("https://host:99999/v1", "Enter an address"),
        ("https://[::1/v1", "Enter an address"),
        ("https://" + "a" * 70 + ".org", "Enter an address"),
        ("ftp://example.org/v1", "must begin with https"),
        ("file:///etc/passwd", "Enter an address"),
        ("javascript://alert", "must begin with https"),
        (f"https://{KEY}@example.org/v1", "in its own field"),
        ("https://user:word@example.org", "in its own field"),
    ],
)
def test_what_is_no_address_is_refused_in_words(typed, said):
    with pytest.raises(addresses.AddressError, match=said):
        addresses.normalise_base_url(typed)


AZURE = "https://west.openai.azure.com"


@pytest.mark.parametrize(
    "typed",
    [
        AZURE,
        f"{AZURE}/",
        f"{AZURE}/openai",
        f"{AZURE}/openai/deployments/gpt-4o/chat/completions?api-version=2024-06-01",
        "west.openai.azure.com",
    ],
)
def test_an_azure_address_is_cut_to_its_endpoint(typed):
    assert addresses.normalise_azure_url(typed) == AZURE


def test_azure_versions():
    pasted = f"{AZURE}/openai/deployments/x/chat/completions?api-version=2024-06-01"
    assert addresses.azure_version(pasted) == "2024-06-01"
    assert addresses.azure_version(AZURE) == ""
    with pytest.raises(addresses.AddressError, match="OpenAI-compatible"):
        addresses.normalise_azure_url(f"{AZURE}/openai/v1")


def test_where_else_to_look():
    assert addresses.alternatives("https://h/api") == ["https://h/api/v1"]
    assert addresses.alternatives("https://h/v1") == ["https://h"]
    assert addresses.alternatives("https://h/api/v1") == []
    assert addresses.alternatives("https://h/v1beta/openai") == []


REFUSED = [
    "127.0.0.1",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fec0::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "2002:7f00:1::1",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
    "not an address",
    "2130706433",
]


@pytest.mark.parametrize("address", REFUSED)
def test_private_addresses_are_refused(address):
    assert not net.is_allowed(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_allowed(address):
    assert net.is_allowed(address)


def test_a_listed_network_is_allowed_in_every_form():
    listed = net.networks(["127.0.0.0/8", "10.0.0.0/24"])
    for address in ("127.0.0.1", "::ffff:127.0.0.1", "10.0.0.9"):
        assert net.is_allowed(address, listed)
    assert not net.is_allowed("10.0.1.9", listed)
    assert not net.is_allowed("::1", listed)


HOSTS = ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"]


@pytest.mark.parametrize("host", HOSTS)
def test_the_gateway_refuses_at_connect(lab, settings, host):
    settings.PRIVATE_NETWORKS = []
    with FakeLLM() as fake:
        url = fake.url.replace("127.0.0.1", host)
        with pytest.raises(ModelError) as caught:
            lab.one(url)
    assert fake.calls == []
    assert caught.value.code == "address_refused"
    assert caught.value.stops_run
    assert "is a private address" in caught.value.sentence
    assert "ASSAY_PRIVATE_NETWORKS" in caught.value.sentence


@pytest.mark.parametrize("host", ["2130706433", "127.1", "0x7f000001"])
def test_odd_spellings_reach_nobody(lab, settings, host):
    settings.PRIVATE_NETWORKS = []
    with FakeLLM() as fake, pytest.raises(ModelError) as caught:
        lab.one(fake.url.replace("127.0.0.1", host))
    assert fake.calls == []
    assert caught.value.code in {"address_refused", "unreachable"}


def test_the_metadata_service_is_refused(lab):
    with pytest.raises(ModelError) as caught:
        lab.one("http://169.254.169.254/v1")
    assert caught.value.code == "address_refused"


def test_the_simulator_may_be_on_loopback(lab, settings):
    settings.PRIVATE_NETWORKS = []
    with FakeLLM() as fake:
        assert lab.one(fake.url, simulated=True).simulated


def test_azure_calls_have_their_own_shape(lab):
    with FakeLLM() as fake:
        lab.one(
            fake.url.removesuffix("/v1"),
            kind="azure",
            api_version="2024-10-21",
            model="my-gpt",
        )
    assert fake.paths == [
        "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"
    ]
    headers = {k.lower(): v for k, v in fake.headers[0].items()}
    assert headers["api-key"] == KEY
    assert "authorization" not in headers


def test_openai_calls_have_theirs(lab):
    with FakeLLM() as fake:
        lab.one(fake.url)
    assert fake.paths == ["/v1/chat/completions"]
    headers = {k.lower(): v for k, v in fake.headers[0].items()}
    assert headers["authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent(lab):
    with FakeLLM() as fake:
        assert lab.one(fake.url, api_key="").text
    assert "authorization" not in {name.lower() for name in fake.headers[0]}


def test_the_environment_reaches_no_endpoint(lab, monkeypatch):
    secrets = {
        "OPENAI_API_KEY": "sk-from-environment",
        "OPENAI_ORG_ID": "org-from-environment",
        "OPENAI_PROJECT_ID": "proj-from-environment",
        "AZURE_OPENAI_AD_TOKEN": "token-from-environment",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    with FakeLLM() as fake:
        lab.one(fake.url, say())
        lab.one(fake.url, say(), api_key="")
        azure = {"kind": "azure", "api_version": "2024-10-21"}
        lab.one(fake.url.removesuffix("/v1"), say(), **azure)
    assert "from-environment" not in str(fake.headers)
    assert os.environ["OPENAI_ORG_ID"]
