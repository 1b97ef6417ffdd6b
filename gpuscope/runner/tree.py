"""All processes that belong to one workload, also those that left its group or lost their parent."""

from __future__ import annotations

from collections import defaultdict

from gpuscope.runner import processes
from gpuscope.runner.processes import ProcessKey, Push


class ProcessTree:
    """The workload's processes, remembered from look to look.

    A member is: the root, whatever descends from a member, whatever is in the root's session, and whatever was
    started with the workload's mark in its environment.
    """

    def __init__(self, root: ProcessKey, mark: str | None) -> None:
        """A tree below `root`.

        Args:
            root: leader of its own session.
            mark: `NAME=value` that only this workload's processes have in their environment; None: unknown.
        """
        self.root = root
        self._mark = mark
        self._members: dict[int, ProcessKey] = {root.pid: root}

    def look(self) -> list[ProcessKey]:
        """The members that are alive now; those above us and ourselves are never among them."""
        self._members = {pid: key for pid, key in self._members.items() if processes.is_alive(key)}
        found = self._linked()
        if self._mark is not None:
            found.update(processes.with_environment_entry(self._mark))
        for pid in found - self._members.keys() - processes.own_ancestry():
            born = processes.create_time(pid)
            key = ProcessKey(pid, born) if born is not None else None
            if key is not None and processes.is_alive(key):
                self._members[pid] = key
        return list(self._members.values())

    def leftovers(self) -> list[ProcessKey]:
        """Members other than the root that are alive now."""
        return [key for key in self.look() if key != self.root]

    def interrupt(self) -> None:
        """Like Ctrl-C in a terminal: the root's group only, for launchers pass it on to groups of their own."""
        self.look()  # remember who is there: afterwards some have lost the parent by which they are found
        if processes.is_alive(self.root):
            processes.push_group(self.root.pid, Push.INTERRUPT)

    def push_all(self, push: Push) -> None:
        """Every member, the root first, so that a launcher does not start a worker anew."""
        for key in sorted(self.look(), key=lambda member: member != self.root):
            processes.push_process(key, push)

    def _linked(self) -> set[int]:
        """Pids in the root's session or below a member."""
        links = processes.all_processes()
        root, born = self.root.pid, processes.create_time(self.root.pid)
        reused = born not in {None, self.root.create_time}  # a later process got the number: its session is not ours
        linked = {link.pid for link in links if link.session_id == root and not reused}
        children = defaultdict(list)
        for link in links:
            children[link.parent_pid].append(link.pid)
        waiting = list(linked | self._members.keys())
        while waiting:
            for child in children.pop(waiting.pop(), ()):
                linked.add(child)
                waiting.append(child)
        return linked
