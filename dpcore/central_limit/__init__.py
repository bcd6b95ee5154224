"""The central limit of composition: moments of the loss, the Gaussian region they lead to and how far off it may be."""

from dpcore.central_limit.limit import Limit, limit

__all__ = ["Limit", "limit"]
