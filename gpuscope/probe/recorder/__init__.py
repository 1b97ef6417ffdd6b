"""The recorder: writes raw facts about a training script from inside the script's own interpreter.

Python 3.9 and later, standard library only. It never imports a framework, never touches a device that the script
has not initialised itself, and switches itself off at the first error of its own. The events are described in
gpuscope/domain/events.py.
"""
