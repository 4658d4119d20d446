"""MJCF files in the style of public collections: nested defaults, classes, euler and quat, angles
in degrees or radians.
"""

from __future__ import annotations

PANDA = """
<mujoco model="panda">
  <compiler angle="radian" meshdir="assets" autolimits="true"/>
  <option integrator="implicitfast"/>
  <default>
    <default class="panda">
      <material specular="0.5" shininess="0.25"/>
      <joint armature="0.1" damping="1" frictionloss="0.2" axis="0 0 1" range="-2.8973 2.8973"/>
      <general dyntype="none" biastype="affine" ctrlrange="-2.8973 2.8973" forcerange="-87 87"/>
      <default class="visual">
        <geom type="mesh" contype="0" conaffinity="0" group="2"/>
      </default>
      <default class="collision">
        <geom type="mesh" group="3"/>
      </default>
      <default class="finger">
        <joint axis="0 1 0" type="slide" range="0 0.04"/>
      </default>
    </default>
  </default>
  <asset>
    <material class="panda" name="white" rgba="1 1 1 1"/>
    <mesh name="link1_c" file="link1.stl"/>
    <mesh file="hand.obj"/>
  </asset>
  <worldbody>
    <light name="top" pos="0 0 2" mode="trackcom"/>
    <body name="link0" childclass="panda">
      <inertial mass="0.629769" pos="-0.041018 -0.00014 0.049974"
        fullinertia="0.00315 0.00388 0.004285 8.2904e-7 0.00015 8.2299e-6"/>
      <body name="link1" pos="0 0 0.333">
        <inertial mass="4.970684" pos="0.003875 0.002081 -0.04762"
          fullinertia="0.70337 0.70661 0.0091170 -0.00013900 0.0067720 0.019169"/>
        <joint name="joint1"/>
        <geom mesh="link1_c" material="white" class="visual"/>
        <geom mesh="link1_c" class="collision"/>
        <body name="link2" quat="1 -1 0 0">
          <inertial mass="0.646926" pos="-0.003141 -0.02872 0.003495"
            fullinertia="0.0079620 2.8110e-2 2.5995e-2 -3.9250e-3 1.0254e-2 7.0400e-4"/>
          <joint name="joint2" range="-1.7628 1.7628"/>
          <body name="link3" pos="0 -0.316 0" quat="1 1 0 0">
            <joint name="joint3" frictionloss="0.3"/>
            <inertial mass="3.228604" pos="2.7518e-2 3.9252e-2 -6.6502e-2"
              fullinertia="3.7242e-2 3.6155e-2 1.0830e-2 -4.7610e-3 -1.1396e-2 -1.2805e-2"/>
            <body name="link4" pos="0.0825 0 0" quat="1 1 0 0">
              <inertial mass="3.587895" pos="-5.317e-2 1.04419e-1 2.7454e-2"
                fullinertia="2.5853e-2 1.9552e-2 2.8323e-2 7.7960e-3 -1.3320e-3 8.6410e-3"/>
              <joint name="joint4" range="-3.0718 -0.0698"/>
              <body name="link5" pos="-0.0825 0.384 0" quat="1 -1 0 0">
                <inertial mass="1.225946" pos="-1.1953e-2 4.1065e-2 -3.8437e-2"
                  fullinertia="3.5549e-2 2.9474e-2 8.6270e-3 -2.1170e-3 -4.0370e-3 2.2900e-4"/>
                <joint name="joint5"/>
                <body name="link6" quat="1 1 0 0">
                  <inertial mass="1.666555" pos="6.0149e-2 -1.4117e-2 -1.0517e-2"
                    fullinertia="1.9640e-3 4.3540e-3 5.4330e-3 1.0900e-4 -1.1580e-3 3.4100e-4"/>
                  <joint name="joint6" range="-0.0175 3.7525"/>
                  <body name="link7" pos="0.088 0 0" quat="1 1 0 0">
                    <inertial mass="7.35522e-01" pos="1.0517e-2 -4.252e-3 6.1597e-2"
                      fullinertia="1.2516e-2 1.0027e-2 4.8150e-3 -4.2800e-4 -1.1960e-3 -7.4100e-4"/>
                    <joint name="joint7"/>
                    <geom type="capsule" size="0.04 0.06" pos="0 0 -0.1" class="collision"/>
                    <body name="hand" pos="0 0 0.107" quat="0.9238795 0 0 -0.3826834">
                      <inertial mass="0.73" pos="-0.01 0 0.03" diaginertia="0.001 0.0025 0.0017"/>
                      <geom class="visual" mesh="hand"/>
                    </body>
                  </body>
                </body>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <general class="panda" name="actuator1" joint="joint1" gainprm="4500" biasprm="0 -4500 -450"/>
    <general class="panda" name="actuator2" joint="joint2" gainprm="4500" biasprm="0 -4500 -450"
      ctrlrange="-1.7628 1.7628"/>
    <general class="panda" name="actuator3" joint="joint3" gainprm="3500" biasprm="0 -3500 -350"/>
    <general class="panda" name="actuator4" joint="joint4" gainprm="3500" biasprm="0 -3500 -350"
      ctrlrange="-3.0718 -0.0698"/>
    <position class="panda" name="actuator5" joint="joint5" kp="2000" kv="200"
      forcerange="-12 12"/>
    <position class="panda" name="actuator6" joint="joint6" kp="2000" kv="200"
      forcerange="-12 12" ctrlrange="-0.0175 3.7525"/>
    <position class="panda" name="actuator7" joint="joint7" kp="2000" kv="200"
      forcerange="-12 12"/>
  </actuator>
  <keyframe>
    <key name="home" qpos="0 0 0 -1.57079 0 1.57079 -0.7853"/>
  </keyframe>
</mujoco>
"""
"""A Panda whose meshes are not there; all of its links state their inertia."""

TWO_ARMS = """
<mujoco model="two arms">
  <!-- a torso with a lift, and an arm on each side -->
  <compiler angle="degree" eulerseq="zyx" autolimits="true"/>
  <option gravity="0 0.5 -9.80665"/>
  <default>
    <geom density="800"/>
    <default class="arm">
      <joint damping="0.7" armature="0.05" range="-170 170"/>
      <position kp="300" kv="20"/>
      <default class="wrist"><joint damping="0.1" frictionloss="0.05" armature="0.01"/></default>
    </default>
  </default>
  <worldbody>
    <body name="torso" pos="0.1 0 0.5" euler="30 0 5">
      <joint name="lift" type="slide" axis="0 0 1" range="-0.2 0.4" armature="3" damping="20"/>
      <geom type="box" size="0.1 0.15 0.3" euler="10 20 30" mass="12"/>
      <frame pos="0 0.2 0.25" euler="0 15 -90">
        <body name="left_upper" childclass="arm">
          <joint name="left_shoulder" axis="0 1 0" pos="0.01 0 0.02" ref="20"/>
          <joint name="left_roll" axis="1 0 0" armature="0.02" frictionloss="0.4"/>
          <geom type="capsule" fromto="0 0 0 0.3 0.02 0" size="0.05"/>
          <body pos="0.3 0 0" quat="0.8 0.1 -0.3 0.2">
            <joint axis="0.3 -1 0.2" stiffness="3" springref="-40" class="wrist"/>
            <geom type="capsule" fromto="0 0 0 0.25 0 0" size="0.03"/>
            <body name="left_tool" pos="0.25 0 0" euler="0 0 45">
              <geom type="sphere" size="0.03" pos="0 0.02 0"/>
            </body>
          </body>
        </body>
      </frame>
      <body name="right_upper" childclass="arm" pos="0 -0.2 0.25" euler="0 0 90">
        <inertial pos="0.1 0 0.01" mass="2" diaginertia="0.02 0.03 0.02" euler="10 0 20"/>
        <joint name="right_shoulder" axis="0 -1 0"/>
        <body name="right_lower" pos="0.3 0 0" axisangle="0 0 1 70">
          <inertial pos="0.1 0 0" mass="1.1" fullinertia="0.01 0.012 0.014 0.001 -0.002 0.0005"/>
          <joint name="right_slide" type="slide" axis="1 0 0" range="0 0.3" class="wrist"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="lifter" joint="lift" gear="50" ctrlrange="-10 10"/>
    <position joint="left_shoulder" class="arm"/>
    <velocity name="roll" joint="left_roll" kv="5"/>
  </actuator>
</mujoco>
"""
"""Motors and servos are mixed; one body has two joints and another none with a name."""

_LEG = """
      <body name="{name}_hip" pos="{x} {y} 0">
        <joint class="abduction" name="{name}_hip"/>
        <inertial mass="0.68" pos="-0.005 {side}0.0007 0.0001"
          quat="0.497014 0.499245 0.505462 0.498237" diaginertia="0.00088 0.00059 0.00048"/>
        <body name="{name}_thigh" pos="0 {side}0.0955 0">
          <joint class="hip" name="{name}_thigh"/>
          <inertial mass="1.15" pos="-0.0037 -0.022 -0.0327"
            quat="0.829533 0.0847635 -0.0200632 0.551623"
            diaginertia="0.00594973 0.00584149 0.000878787"/>
          <body name="{name}_calf" pos="0 0 -0.213">
            <joint class="knee" name="{name}_calf"/>
            <inertial mass="0.24" pos="0.0055 -0.0009 -0.137"
              quat="0.703508 -0.00450087 0.00154099 0.710672"
              diaginertia="0.0014901 0.00146356 5.31397e-05"/>
            <geom name="{name}" class="foot"/>
          </body>
        </body>
      </body>"""

QUADRUPED = (
    """
<mujoco model="quadruped">
  <compiler angle="degree" autolimits="true"/>
  <option cone="elliptic" impratio="100"/>
  <default>
    <default class="dog">
      <geom friction="0.6" margin="0.001" condim="1"/>
      <joint axis="0 1 0" damping="0.1" armature="0.01" frictionloss="0.2"/>
      <position kp="100" kv="2" forcerange="-24 24" inheritrange="1"/>
      <default class="abduction"><joint axis="1 0 0" range="-60 60"/></default>
      <default class="hip"><joint range="-90 200"/></default>
      <default class="knee"><joint range="-156 -48"/>
        <position forcerange="-45 45"/></default>
      <default class="foot"><geom type="sphere" size="0.022" pos="-0.002 0 -0.213"/></default>
    </default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 0.05"/>
    <body name="base" pos="0 0 0.445" euler="0 10 0" childclass="dog">
      <freejoint/>
      <inertial mass="6.9" pos="0.02 0 -0.005" diaginertia="0.1 0.09 0.02"/>
      <geom type="box" size="0.19 0.05 0.06"/>"""
    + "".join(
        _LEG.format(name=name, x=x, y=y, side="" if y > 0 else "-")
        for name, x, y in (
            ("FL", 0.1934, 0.0465),
            ("FR", 0.1934, -0.0465),
            ("RL", -0.1934, 0.0465),
            ("RR", -0.1934, -0.0465),
        )
    )
    + """
    </body>
  </worldbody>
  <actuator>"""
    + "".join(
        f'\n    <position class="{kind}" name="{leg}_{joint}" joint="{leg}_{joint}"/>'
        for leg in ("FL", "FR", "RL", "RR")
        for joint, kind in (("hip", "abduction"), ("thigh", "hip"), ("calf", "knee"))
    )
    + """
  </actuator>
</mujoco>
"""
)
"""Its base floats: the free joint has no name."""

PENDULUM = """
<mujoco model="pendulum">
  <compiler angle="radian"/>
  <worldbody>
    <body name="rod">
      <joint name="pivot" axis="0 1 0" damping="0.1" frictionloss="0.05" armature="0.02"/>
      <inertial pos="0 0 -0.3" mass="1.5" diaginertia="0.01 0.01 0.002"/>
    </body>
  </worldbody>
  <actuator>
    <position name="servo" joint="pivot" kp="80" kv="6" gear="2" forcerange="-30 30"/>
  </actuator>
</mujoco>
"""
