"""Effects of your own: a gas spring and a cable, declared by their torques, simulated and
identified with the links and the friction.
"""

import numpy as np

import didim

gas_spring = didim.Effect(
    "lift",
    "-F * (l0 / l) ^ n * a * b * sin(q - q0) / l",
    {"F": {"unit": "N", "sign": "positive"}},
    fixed={"a": 0.35, "b": 0.12, "q0": 0.4, "l0": 0.3, "n": 1.2},  # from its drawing and data sheet
    let={"l": "sqrt(a^2 + b^2 - 2 * a * b * cos(q - q0))"},
    joint=1,
    conservative=True,
)
cable = didim.Effect(
    "cable",
    "k * (q - q0) + c * dq * abs(dq)",
    {"k": {"unit": "N.m/rad"}, "c": {"unit": "N.m.s2/rad2", "sign": "positive"}},
    fixed={"q0": 0.2},
    weights={1: 1.0, 2: 1.0},  # it bends with the sum of both joints
    conservative=True,
)
model = didim.DynamicModel(
    didim.load_robot("scara"), effects=["rotor", "viscous", "coulomb", gas_spring, cable]
)
own = {"F_lift": 60.0, "k_cable": 4.0, "c_cable": 0.3}
phi = np.array(
    [own.get(name, x) for name, x in zip(model.parameter_names, model.nominal, strict=True)]
)
truth = model.base.matrix @ phi

trajectory = didim.Fourier.random(model.robot, seed=1, period=6.0, periods=1)
t = np.arange(0.0, 6.0, 2e-3)
q, dq, ddq = trajectory.sample(t)
tau = model.base.inverse_dynamics(q, dq, ddq, truth)
record = didim.Experiment(t, tau, None, q)  # exact positions; your robot's log here
by_idim = didim.identify(model, record, didim.IDIM(cutoff=None, decimation=1))

loop = didim.PD(natural_frequency=[30.0, 60.0])
motion = didim.simulate(model.base, truth, loop, t=t, q_ref=trajectory)
record = didim.Experiment(t, motion.tau, trajectory, motion.q)
by_didim = didim.identify(model, record, didim.DIDIM(controller=loop, decimation=1))

print(f"{'':10}{'true':>12}{'IDIM':>12}{'DIDIM':>12}")
for name, true, one, two in zip(
    model.base.parameter_names, truth, by_idim.values, by_didim.values, strict=True
):
    print(f"{name:10}{true:12.5f}{one:12.5f}{two:12.5f}")
