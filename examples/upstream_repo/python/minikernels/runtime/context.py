"""Process-wide resources. In the real package this needs a GPU to import."""

import torch

assert torch.cuda.is_available()


class Resources:
    def __init__(self):
        self.buffers = {}


_resources = Resources()


def get_resources():
    return _resources
