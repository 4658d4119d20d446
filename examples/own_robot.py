"""A robot of your own from modified Denavit-Hartenberg parameters: describe it, see what can be
identified, identify it.
"""

from pathlib import Path

import didim

Path("my_arm.toml").write_text("""
name = "my_arm"
gravity = [0.0, 0.0, -9.81]
effects = ["viscous", "coulomb"]

[[joint]]                            # turns about the vertical
name = "waist"
r = 0.3
position = [-2.5, 2.5]
inertial = { mass = 6.0, centre = [0.0, 0.0, -0.1], inertia = [0.08, 0.0, 0.0, 0.08, 0.0, 0.05] }
nominal = { Fv = 1.0, Fc = 2.0 }

[[joint]]                            # lifts the arm
name = "shoulder"
alpha = "-pi/2"
position = [-2.0, 0.5]
effects = ["rotor", "viscous", "coulomb"]
inertial = { mass = 4.0, centre = [0.2, 0.0, 0.0], inertia = [0.01, 0.0, 0.0, 0.25, 0.0, 0.25] }
nominal = { Ia = 0.2, Fv = 1.5, Fc = 3.0 }

[[joint]]                            # bends it
name = "elbow"
d = 0.4
position = [0.0, 2.5]
inertial = { mass = 2.0, centre = [0.15, 0.0, 0.0], inertia = [0.004, 0.0, 0.0, 0.06, 0.0, 0.06] }
nominal = { Fv = 0.6, Fc = 1.0 }
""")
model = didim.DynamicModel(didim.load_robot("my_arm.toml"))
print(
    f"{len(model.parameter_names)} standard parameters, of which {len(model.base.parameter_names)} "
    "combinations can be told:"
)
for name, formula in model.base.formulas.items():
    print(f"  {name:6} = {formula}")

loop = didim.PD(natural_frequency=[60.0, 60.0, 90.0])
trajectory = didim.Fourier.random(model.robot, seed=3, period=8.0, periods=2)
record, truth = didim.virtual_experiment(
    model, model.nominal, loop, trajectory, rate=500, noise=0.03
)  # your robot's log here
estimate = didim.identify(model, record, didim.DIDIM(controller=loop, decimation=10))
print(estimate.summary())
print("Report:", estimate.report("my_arm.html", overwrite=True))
