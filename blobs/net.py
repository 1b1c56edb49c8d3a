"""Which addresses may be connected to, checked on the resolved address at connect.

A check of the name alone is beaten by a name that changes its address between check
and use; here the socket itself refuses.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from typing import Any

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_SHARED = ipaddress.IPv4Network("100.64.0.0/10")
_LOOPBACK = ipaddress.IPv6Address("::1")


class AddressRefused(OSError):
    """The address is private and not listed in ASSAY_PRIVATE_NETWORKS."""


def networks(listed: Sequence[str]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text, strict=False) for text in listed)


def unwrap(address: Address) -> Address:
    """The IPv4 address inside a mapped, compatible, 6to4, Teredo or NAT64 form; others
    as they are."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or (address in _COMPATIBLE and address != _LOOPBACK):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def is_allowed(host: str, private: Sequence[Network] = ()) -> bool:
    """True for a public address, and for one in the networks listed as private."""
    try:
        address = unwrap(ipaddress.ip_address(host.partition("%")[0]))
    except ValueError:
        return False
    if any(address.version == net.version and address in net for net in private):
        return True
    if isinstance(address, ipaddress.IPv4Address):
        if address in _SHARED:
            return False
    elif address in _LOCAL_NAT64 or address.is_site_local:
        return False
    return address.is_global and not address.is_multicast


def guarded_socket(private: Sequence[Network]) -> Callable[[Any], socket.socket]:
    """A socket factory for aiohttp that refuses addresses that are not allowed."""

    def make(info: Any) -> socket.socket:
        family, kind, protocol, _name, address = info
        if not is_allowed(str(address[0]), private):
            raise AddressRefused(f"{address[0]} is a private address.")
        return socket.socket(family=family, type=kind, proto=protocol)

    return make
