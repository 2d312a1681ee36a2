"""Faults of what a sandbox refuses, or lacks."""

from __future__ import annotations

import pytest

from greenloop.plugins.environment_faults.sandbox_limits import setting_for


@pytest.mark.parametrize(
    ("title", "setting"),
    [
        ("PostgreSQL at localhost:5432", 'sandbox.services = ["postgres"]'),
        ("RabbitMQ at localhost:5672", 'sandbox.services = ["docker:rabbitmq"]'),
        ("Kafka at localhost:9092", ""),
    ],
)
def test_the_setting_is_named_for_a_service_that_can_be_started(title, setting):
    assert setting_for(title) == setting
