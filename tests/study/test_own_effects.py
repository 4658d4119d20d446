"""A gas spring and a cable, declared in a study, are identified from a log file."""

from __future__ import annotations

import json

import numpy as np

import didim
from didim.cli import main

EFFECTS = """
[[effect]]
name = "gas"
joint = 1
torque = "-F * (0.3 / (l - 0.1)) ^ 1.2 * 0.03 * sin(q - 1.2) / l"
unknown = { F = { unit = "N", sign = "positive" } }
let = { l = "sqrt(0.1 - 0.06 * cos(q - 1.2))" }
conservative = true

[[effect]]
name = "cable"
joint = 2
torque = "k * (q - q0)"
unknown = { k = { unit = "N.m/rad" } }
fixed = { q0 = 0.2 }
conservative = true
"""

STUDY = """
robot = "scara"
method = "didim"

[[experiment]]
file = "run.csv"
columns = { t = "t", tau = "tau{j}", q_ref = "r{j}" }

[controller]
law = "pd"
kp = [12.0, 20.0]
kv = [150.0, 6.0]

[didim]
decimation = 10
"""

TRUE = {"F_gas": 60.0, "k_cable": 1.5}


def test_a_study_with_a_gas_spring_and_a_cable(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY + EFFECTS)
    t = np.arange(0.0, 5.0005, 2e-3)
    q_ref = np.column_stack([0.9 * np.sin(3 * t) * np.cos(t), 0.7 * np.sin(4 * t + 0.3)])
    header, none = "t,tau1,tau2,r1,r2", np.zeros((t.size, 2))
    table = np.column_stack([t, none, q_ref])
    np.savetxt("run.csv", table, delimiter=",", header=header, comments="")
    study = didim.load_study("study.toml")
    model, loop = study.model, study.controller
    phi = np.nan_to_num(model.nominal)
    for name, value in TRUE.items():
        phi[model.parameter_names.index(name)] = value
    motion = didim.simulate(model, phi, loop, t=t, q_ref=didim.Reference(t, q_ref))
    noise = 0.01 * motion.tau.std(axis=0) * np.random.default_rng(0).standard_normal((t.size, 2))
    table[:, 1:3] = motion.tau + noise
    np.savetxt("run.csv", table, delimiter=",", header=header, comments="")
    assert main(["identify", "study.toml", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "converged"
    for name, value in TRUE.items():
        k = answer["names"].index(name)
        low, high = answer["interval"][k]
        width = high - low
        assert low - width < value < high + width
        assert abs(answer["values"][k] - value) < 0.05 * value
