"""Shapes, strides, dtypes, devices and storages as plain data; standard library only."""
