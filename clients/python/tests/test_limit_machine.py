"""Random histories of limits, against a naive model of what they count. At times the service is killed."""

import dataclasses
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, Optional

import pytest
from conftest import Server, Service
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from scrip_wallet import InsufficientCreditsError, LimitExceededError, NewLimit, Scrip

MEMBERS = ["ann", "bob", "new"]
AMOUNTS = st.integers(1, 12)


@dataclass
class Counter:
    used: int = 0
    held: int = 0


Counters = dict[tuple[str, str, str, str], Counter]


@dataclass
class Use:
    """What is counted, and where."""

    names: dict[str, str]
    counters: Counters = field(default_factory=dict)
    amount: int = 0
    drawn: int = 0
    id: str = ""

    @property
    def left(self) -> int:
        return max(self.amount - self.drawn, 0)


class Model:
    def __init__(self) -> None:
        self.limits: list[NewLimit] = []
        self.counters: Counters = {}
        self.available = 0

    def set(self, limits: list[NewLimit]) -> None:
        """A counter ends with the last limit that it counts for; one that comes later begins with nothing."""
        self.limits = limits
        kept = {key for key in self.counters for limit in limits if self.counts_for(key, limit)}
        self.counters = {key: counter for key, counter in self.counters.items() if key in kept}

    @staticmethod
    def counts_for(key: tuple[str, str, str, str], limit: NewLimit) -> bool:
        kind, _, name = limit.scope.partition(":")
        return key == (kind, key[1] if name == "*" else name, limit.window, limit.unit)

    def applying(self, names: dict[str, str]) -> dict[tuple[str, str, str, str], NewLimit]:
        """Of those that count the same the exact one."""
        found: dict[tuple[str, str, str, str], NewLimit] = {}
        for limit in sorted(self.limits, key=lambda limit: not limit.scope.endswith("*")):
            for kind, name in names.items():
                key = (kind, name, limit.window, str(limit.unit))
                if self.counts_for(key, limit):
                    found[key] = limit
        return found

    def exceeded(self, names: dict[str, str], credits: int, operations: int, by: Optional[Use] = None) -> list[Any]:
        """The limits that have no room. Of more of a use: only where that is counted."""
        found = []
        for key, limit in self.applying(names).items():
            counter = self.counters.get(key)
            if by is not None and (counter is None or by.counters.get(key) is not counter):
                continue
            used, held = (counter.used, counter.held) if counter else (0, 0)
            requested = operations if limit.unit == "operations" else credits
            if requested > 0 and requested > max(limit.amount - used - held, 0):
                found.append((limit.scope, limit.window, limit.unit, limit.amount, used, held, requested))
        return found

    def admit(self, use: Use) -> None:
        for key in self.applying(use.names):
            use.counters[key] = self.counters.setdefault(key, Counter())

    @staticmethod
    def count(use: Use, credits: int = 0, held: int = 0, operations: int = 0, held_operations: int = 0) -> None:
        for key, counter in use.counters.items():
            is_operations = key[3] == "operations"
            counter.used = max(counter.used + (operations if is_operations else credits), 0)
            counter.held = max(counter.held + (held_operations if is_operations else held), 0)

    def states(self, member: Optional[str]) -> list[tuple[Any, ...]]:
        """What is shown of the limits: of all, or of those that apply to a member."""
        found = []
        for limit in self.limits:
            kind, _, name = limit.scope.partition(":")
            if member and kind == "member":
                key = ("member", member, limit.window, str(limit.unit))
                if self.applying({"member": member}).get(key) is not limit:
                    continue
            else:
                key = (kind, name, limit.window, str(limit.unit))
            counter = self.counters.get(key, Counter())
            left = max(limit.amount - counter.used - counter.held, 0)
            found.append((limit.scope, limit.window, limit.amount, counter.used, counter.held, left))
        return found


SCOPES = ["wallet", "wallet", "member:*", "member:ann", "feature:*", "feature:image", "key:*", "key:OWN"]
LIMITS = st.lists(
    st.builds(
        NewLimit,
        st.sampled_from(
            ["wallet", "wallet", "member:*", "member:ann", "feature:*", "feature:image", "key:*", "key:OWN"]
        ),
        st.sampled_from([0, 2, 6, 12, 20, 60]),
        st.sampled_from(["month", "year", "lifetime"]),
        st.sampled_from(["credits", "operations"]),
        alerts_at=st.sampled_from([None, [50], [80, 100]]),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda limit: (limit.scope, limit.window, limit.unit),
)
SPENDERS = st.fixed_dictionaries(
    {"member": st.sampled_from([None, *MEMBERS]), "feature": st.sampled_from([None, "image", "chat"])},
    optional={"second": st.just(True)},
)


@dataclass
class Running:
    server: Server
    service: Service
    keys: dict[str, str]
    """Secret keys by their ids."""
    kills: int = 0

    def kill(self) -> None:
        self.kills += 1
        self.server.kill()
        self.service = self.server.start(int(self.service.base_url.rsplit(":", 1)[1]))


class Limits(RuleBasedStateMachine):
    running: Running

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.stack = ExitStack()
        self.clients = {
            id: self.stack.enter_context(Scrip(key, base_url=self.running.service.base_url, gather=False))
            for id, key in self.running.keys.items()
        }
        self.own = next(iter(self.clients))
        self.wallet = f"team-{uuid.uuid4()}"
        self.step = 0
        self.holds: list[Use] = []
        self.deductions: list[Use] = []

    @property
    def scrip(self) -> Scrip:
        return self.clients[self.own]

    def teardown(self) -> None:
        self.stack.close()

    @initialize(amount=st.sampled_from([0, 20, 100, 200]), limits=LIMITS)
    def begin(self, amount: int, limits: list[NewLimit]) -> None:
        self.scrip.ensure_wallet(self.wallet)
        self.credit(amount)
        self.set_limits(limits, False)

    @rule(amount=st.integers(0, 100))
    def credit(self, amount: int) -> None:
        if amount:
            product = self.running.service.product
            key = str(uuid.uuid4())
            self.scrip.credit(external_user_id=self.wallet, product_id=product, amount=amount, idempotency_key=key)
            self.model.available += amount

    @rule(limits=LIMITS, keeps=st.booleans())
    def set_limits(self, limits: list[NewLimit], keeps: bool) -> None:
        own = f"key:{self.own}"
        limits = [dataclasses.replace(it, scope=own) if it.scope == "key:OWN" else it for it in limits]
        if keeps:
            changed = {(it.scope, it.window, it.unit) for it in limits}
            limits += [it for it in self.model.limits if (it.scope, it.window, it.unit) not in changed]
        self.scrip.set_limits(limits, external_user_id=self.wallet)
        self.model.set(limits)

    def use(self, spender: dict[str, Any], amount: int) -> tuple[Use, Scrip, dict[str, Any]]:
        """A use, the client that asks for it, and how."""
        key = list(self.clients)["second" in spender]
        names = {"wallet": "", "key": key}
        how: dict[str, Any] = {"external_user_id": self.wallet, "amount": amount, "idempotency_key": str(uuid.uuid4())}
        if spender["member"]:
            names["member"] = how["member"] = spender["member"]
        if spender["feature"]:
            names["feature"] = spender["feature"]
            how["meta"] = {"feature": spender["feature"]}
        return Use(names, amount=amount), self.clients[key], how

    def decided(self, call: Callable[[], Any], exceeded: list[Any], is_short: bool) -> Any:
        """Its answer, or None where it is refused as it has to be."""
        try:
            answer = call()
        except LimitExceededError as error:
            limit = error.limit
            refused = (limit.scope, limit.window, limit.unit or "credits", limit.amount, limit.used, limit.held)
            assert (*refused, error.requested) in exceeded, (error.limit, exceeded)
            return None
        except InsufficientCreditsError:
            assert is_short and not exceeded
            return None
        assert not exceeded and not is_short, (answer, exceeded)
        return answer

    @rule(spender=SPENDERS, amount=AMOUNTS, drain=st.booleans(), repeats=st.booleans())
    def deduct(self, spender: dict[str, Any], amount: int, drain: bool, repeats: bool) -> None:
        use, client, how = self.use(spender, amount)
        if drain:
            how["on_shortfall"] = "drain"
        exceeded = self.model.exceeded(use.names, amount, 1)
        is_short = amount > self.model.available and not drain
        if self.decided(lambda: client.deduct(**how), exceeded, is_short):
            use.amount = min(amount, self.model.available)
            self.model.admit(use)
            self.model.count(use, credits=use.amount, operations=1)
            self.model.available -= use.amount
            if repeats:
                assert not client.deduct(**how).deducted
            if use.amount:
                use.id = client.ledger(external_user_id=self.wallet, limit=1).items[0].id
                self.deductions.append(use)

    @precondition(lambda self: self.deductions)
    @rule(which=st.integers(0), part=st.integers(1, 12))
    def reverse(self, which: int, part: int) -> None:
        use = self.deductions.pop(which % len(self.deductions))
        amount = min(part, use.amount)
        self.scrip.reverse_deduction(use.id, amount=amount, idempotency_key=str(uuid.uuid4()))
        self.model.count(use, credits=-amount, operations=-1 if amount == use.amount else 0)
        self.model.available += amount

    @precondition(lambda self: len(self.holds) < 3)
    @rule(spender=SPENDERS, amount=AMOUNTS)
    def hold(self, spender: dict[str, Any], amount: int) -> None:
        use, client, how = self.use(spender, amount)
        exceeded = self.model.exceeded(use.names, amount, 1)
        placed = self.decided(lambda: client.place_hold(**how), exceeded, amount > self.model.available)
        if placed:
            use.id = placed.hold_id
            self.model.admit(use)
            self.model.count(use, held=amount, held_operations=1)
            self.model.available -= amount
            self.holds.append(use)

    @precondition(lambda self: self.holds)
    @rule(which=st.integers(0), beyond=st.sampled_from([-3, 0, 1, 4, 12]))
    def draw(self, which: int, beyond: int) -> None:
        use = self.holds[which % len(self.holds)]
        amount = max(use.left + beyond, 1)
        more = max(amount - use.left, 0)
        exceeded = self.model.exceeded(use.names, more, 0, use)
        if self.decided(lambda: self.scrip.draw(use.id, amount), exceeded, more > self.model.available):
            left = use.left
            use.drawn += amount
            self.model.count(use, credits=amount, held=use.left - left)
            self.model.available -= more

    @precondition(lambda self: self.holds)
    @rule(which=st.integers(0), beyond=st.sampled_from([-100, -2, 0, 1, 4, 12]), drain=st.booleans())
    def settle(self, which: int, beyond: int, drain: bool) -> None:
        use = self.holds[which % len(self.holds)]
        amount = max(use.drawn + use.left + beyond, 0)
        more = amount - use.drawn - use.left
        exceeded = [] if drain else self.model.exceeded(use.names, more, 0, use)
        is_short = more > self.model.available and not drain
        how: Optional[Literal["drain"]] = "drain" if drain else None
        if self.decided(lambda: self.scrip.settle(use.id, amount, on_shortfall=how), exceeded, is_short):
            charged = min(amount, use.drawn + use.left + self.model.available)
            operations = 1 if charged else 0
            self.model.count(use, charged - use.drawn, -use.left, operations, -1)
            self.model.available += use.drawn + use.left - charged
            self.holds.remove(use)

    @precondition(lambda self: self.holds)
    @rule(which=st.integers(0))
    def release(self, which: int) -> None:
        use = self.holds.pop(which % len(self.holds))
        self.scrip.release(use.id)
        self.model.count(use, held=-use.left, operations=1 if use.drawn else 0, held_operations=-1)
        self.model.available += use.left

    @rule(odds=st.integers(1, 10))
    def kill(self, odds: int) -> None:
        if odds == 1:
            self.running.kill()

    @invariant()
    def shows_what_is_counted(self) -> None:
        if not self.model.limits:
            return
        self.step += 1
        for member in [None, MEMBERS[self.step % len(MEMBERS)]]:
            shown = self.scrip.limits(external_user_id=self.wallet, member=member)
            found = [(it.scope, it.window, it.amount, it.used, it.held, it.remaining) for it in shown]
            assert found == self.model.states(member), member

    @invariant()
    def has_what_is_left(self) -> None:
        assert self.scrip.wallet(self.wallet).balance() == self.model.available


def test_random_histories_count_as_a_naive_model_does(server: Server) -> None:
    soon = datetime.now(timezone.utc) + timedelta(minutes=5)
    if soon.month != datetime.now(timezone.utc).month:
        pytest.skip("the month is over before this is")
    service = server.start()
    keys = {}
    for _ in range(2):
        made = service.admin("POST", "/keys", {"kind": "secret"})
        keys[made["id"]] = made["key"]
    running = Running(server, service, keys)

    class Machine(Limits):
        def __init__(self) -> None:
            self.running = running
            super().__init__()

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=30,
            stateful_step_count=40,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert running.kills
