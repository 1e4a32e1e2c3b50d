"""Work under a hold, against the service itself: nothing stays held and nothing is free, however it ends."""

import asyncio
import gc
import json
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any, Callable, Optional

import httpx
import pytest
from conftest import Faulty, Service
from faults import Trouble

from scrip_wallet import (
    AsyncScrip,
    AsyncSettlementError,
    InsufficientCreditsError,
    Outcome,
    RunningHold,
    Scrip,
    ScripError,
    SettlementError,
    _keeper,
    models,
)

MakeUser = Callable[[int], str]
State = Callable[[str], dict[str, int]]

LOST = ["lost"] * 4


def spent(balance: int) -> dict[str, int]:
    return {"balance": balance, "held": 0}


class TestWork:
    def test_is_charged_what_it_cost(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(100)
        with scrip.hold(external_user_id=name, amount=40, meta={"feature": "chat"}) as hold:
            assert state(name) == {"balance": 60, "held": 40}
            assert (hold.amount, hold.balance, hold.drawn, hold.outcome) == (40, 60, 0, None)
            hold.cost = 12
        assert hold.outcome == Outcome(balance=88, charged=12)
        assert state(name) == spent(88)
        assert scrip.ledger(external_user_id=name).items[0].meta == {"feature": "chat"}

    def test_may_be_noted_over_the_note_of_its_hold(self, scrip: Scrip, user: MakeUser) -> None:
        name = user(100)
        meta = {"feature": "chat", "run": 1}
        with scrip.hold(external_user_id=name, amount=40, meta=meta) as hold:
            hold.draw(3, meta={"run": 2})
            hold.cost, hold.meta = 12, {"estimated": True}
        settled, drawn = scrip.ledger(external_user_id=name, reason="deduction").items
        assert (settled.meta, drawn.meta) == ({**meta, "estimated": True}, {"feature": "chat", "run": 2})

    def test_of_a_new_user_spends_their_free_credits(self, generous: Scrip) -> None:
        with generous.hold(external_user_id="hold", amount=4) as hold:
            assert (hold.amount, hold.balance) == (4, 1)
            hold.cost = 2
        assert generous.deduct(external_user_id="deduct", amount=2).balance == 3
        taken = generous.deduct_batch([{"external_user_id": "batch", "amount": 1}] * 2)
        assert [isinstance(result, ScripError) or result.balance for result in taken] == [4, 3]

    def test_that_was_free_costs_nothing(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(100)
        with scrip.hold(external_user_id=name, amount=40) as hold:
            hold.cost = 0
        assert hold.outcome == Outcome(balance=100, charged=0)
        assert state(name) == spent(100)

    def test_that_cost_more_than_was_held_takes_it_from_the_balance(
        self, scrip: Scrip, user: MakeUser, state: State
    ) -> None:
        name = user(100)
        with scrip.hold(external_user_id=name, amount=40) as hold:
            hold.cost = 90
        assert hold.outcome == Outcome(balance=10, charged=90)

    def test_that_raises_costs_nothing_and_its_error_comes_out(
        self, scrip: Scrip, user: MakeUser, state: State
    ) -> None:
        name = user(100)
        broken = RuntimeError("the model is on fire")
        with pytest.raises(RuntimeError) as caught, scrip.hold(external_user_id=name, amount=40) as hold:
            hold.cost = 12
            raise broken
        assert caught.value is broken
        assert (state(name), scrip.get_hold(hold.hold_id).status) == (spent(100), "released")

    @pytest.mark.parametrize("cost", [None, -1, 1.5, "3", True, 2**53])
    def test_has_to_say_what_it_cost(self, scrip: Scrip, user: MakeUser, state: State, cost: Any) -> None:
        name = user(100)
        with pytest.raises(ScripError) as caught, scrip.hold(external_user_id=name, amount=40) as hold:
            hold.cost = cost
        assert (caught.value.code, caught.value.param) == ("invalid_request", "cost")
        assert state(name) == spent(100)

    def test_is_not_begun_where_credits_are_missing(self, scrip: Scrip, user: MakeUser) -> None:
        name = user(10)
        with pytest.raises(InsufficientCreditsError) as caught, scrip.hold(external_user_id=name, amount=40):
            raise AssertionError("it was begun")
        assert caught.value.shortfall == 30

    def test_may_give_its_hold_back_by_itself(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(100)
        with scrip.hold(external_user_id=name, amount=40) as hold:
            hold.release()
        assert (hold.outcome, state(name)) == (None, spent(100))

    def test_of_a_generator_that_nobody_reads_on_is_over(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(100)

        def stream() -> Iterator[str]:
            with scrip.hold(external_user_id=name, amount=40) as hold:
                yield "a"
                hold.cost = 3

        words = stream()
        assert next(words) == "a"
        assert state(name) == {"balance": 60, "held": 40}
        del words
        gc.collect()
        assert state(name) == spent(100)

    def test_is_for_one_run(self, scrip: Scrip, user: MakeUser) -> None:
        hold = scrip.hold(external_user_id=user(100), amount=40)
        with hold:
            hold.cost = 1
        with pytest.raises(ScripError) as caught, hold:
            pass
        assert caught.value.code == "invalid_options"


@pytest.mark.usefixtures("draws")
class TestDraws:
    def test_are_paid_as_they_are_made(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(100)
        with scrip.hold(external_user_id=name, amount=40) as hold:
            draw = hold.draw(10)
            assert (draw.balance, draw.deducted, draw.drawn, draw.held) == (60, True, 10, 30)
            assert hold.draw(5).drawn == hold.drawn == 15
            assert state(name) == {"balance": 60, "held": 25}
        assert hold.outcome == Outcome(balance=85, charged=15)
        assert state(name) == spent(85)

    def test_stay_paid_where_the_work_raises(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(100)
        with pytest.raises(KeyError), scrip.hold(external_user_id=name, amount=40) as hold:
            hold.draw(10)
            raise KeyError("gone")
        assert (state(name), scrip.get_hold(hold.hold_id).settled_amount) == (spent(90), 10)

    def test_are_part_of_the_cost(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        more, less = user(100), user(100)
        with scrip.hold(external_user_id=more, amount=40) as hold:
            hold.draw(10)
            hold.cost = 12
        assert hold.outcome == Outcome(balance=88, charged=12)
        with scrip.hold(external_user_id=less, amount=40) as hold:
            hold.draw(10)
            hold.cost = 4
        assert hold.outcome == Outcome(balance=96, charged=4)
        assert (state(more), state(less)) == (spent(88), spent(96))

    def test_go_on_from_the_balance_and_then_say_stop(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(50)
        with pytest.raises(InsufficientCreditsError), scrip.hold(external_user_id=name, amount=20) as hold:
            for _ in range(100):
                hold.draw(15)
        assert (hold.drawn, state(name)) == (45, spent(5))

    def test_are_made_once_though_answers_are_lost(self, faulty: Faulty, user: MakeUser, state: State) -> None:
        name = user(100)
        faulty.proxy.only = "/draw"
        with faulty.scrip.hold(external_user_id=name, amount=40) as hold:
            faulty.proxy.troubles.extend(["lost", "cut"])
            assert hold.draw(10).deducted
            # Abandoned by the client, and repeated under its key.
            faulty.proxy.troubles.extend(LOST)
            with pytest.raises(ScripError) as caught:
                hold.draw(5)
            assert hold.drawn == 15
            hold.draw(5, idempotency_key=caught.value.idempotency_key)
            hold.draw(5, idempotency_key="mine")
            hold.draw(5, idempotency_key="mine")
            assert hold.drawn == 20
        assert hold.outcome == Outcome(balance=80, charged=20)

    @pytest.mark.parametrize("trouble", ["lost", "unsent"])
    def test_whose_answer_never_came_are_paid(self, faulty: Faulty, user: MakeUser, state: State, trouble: str) -> None:
        name = user(100)
        faulty.proxy.only = "/draw"
        with pytest.raises(ScripError), faulty.scrip.hold(external_user_id=name, amount=40) as hold:
            hold.draw(3)
            faulty.proxy.troubles.extend([trouble] * 4)
            hold.draw(10)
        assert state(name) == spent(87)

    def test_that_were_refused_are_not(self, faulty: Faulty, user: MakeUser, state: State) -> None:
        name = user(100)
        busy: Trouble = (503, {}, b'{"code":"overloaded","message":"Too much."}')
        with pytest.raises(ScripError), faulty.scrip.hold(external_user_id=name, amount=40) as hold:
            hold.draw(3)
            faulty.proxy.troubles.extend([busy] * 4)
            hold.draw(10)
        assert state(name) == spent(97)


@pytest.mark.usefixtures("draws")
class TestShortfall:
    def test_takes_what_there_is(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(100)
        with scrip.hold(external_user_id=name, amount=40) as hold:
            hold.cost = 130
        assert hold.outcome == Outcome(balance=0, charged=100, uncovered=30)
        assert state(name) == spent(0)

    def test_is_an_error_where_it_is_to_be_one(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(100)
        with pytest.raises(SettlementError) as caught:
            with scrip.hold(external_user_id=name, amount=40, on_shortfall="refuse") as hold:
                hold.cost = 130
        assert (caught.value.code, caught.value.cost) == ("insufficient_credits", 130)
        assert state(name) == {"balance": 60, "held": 40}
        assert caught.value.resume(on_shortfall="drain") == Outcome(balance=0, charged=100, uncovered=30)
        assert state(name) == spent(0)

    def test_of_a_deduction_is_returned(self, scrip: Scrip, user: MakeUser) -> None:
        name = user(10)
        done = scrip.deduct(external_user_id=name, amount=15, on_shortfall="drain")
        assert (done.balance, done.deducted, done.charged, done.owed, done.uncovered) == (0, True, 10, 0, 5)
        nothing = scrip.deduct(external_user_id=name, amount=15, on_shortfall="drain")
        assert (nothing.deducted, nothing.charged, nothing.uncovered) == (False, 0, 15)

    def test_whose_answer_was_lost_is_returned_as_it_was(self, faulty: Faulty, user: MakeUser) -> None:
        name = user(10)
        faulty.proxy.troubles.append("lost")
        done = faulty.scrip.deduct(external_user_id=name, amount=15, on_shortfall="drain")
        assert (done.deducted, done.charged, done.uncovered) == (True, 10, 5)
        faulty.proxy.troubles.append("lost")
        nothing = faulty.scrip.deduct(external_user_id=name, amount=15, on_shortfall="drain")
        assert (nothing.deducted, nothing.charged) == (False, 0)


class TestKey:
    def test_is_used_once(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(100)
        for run in range(2):
            try:
                with scrip.hold(external_user_id=name, amount=40, idempotency_key="chat-1") as hold:
                    hold.cost = 10
            except ScripError as error:
                assert (run, error.code, error.idempotency_key) == (1, "hold_replayed", "chat-1")
        assert state(name) == spent(90)

    def test_of_many_at_once_lets_one_in(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(100)
        runs: list[str] = []

        def run() -> None:
            try:
                with scrip.hold(external_user_id=name, amount=5, idempotency_key="same") as hold:
                    hold.cost = 5
                    runs.append("done")
            except ScripError as error:
                runs.append(error.code)

        threads = [threading.Thread(target=run) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(runs) == ["done"] + ["hold_replayed"] * 9
        assert state(name) == spent(95)

    def test_may_be_used_again_where_nothing_was_charged_under_it(
        self, scrip: Scrip, user: MakeUser, state: State
    ) -> None:
        name = user(100)
        job: dict[str, Any] = {"external_user_id": name, "amount": 40, "idempotency_key": "job-6"}
        for resume in (False, True, True):
            with pytest.raises(ZeroDivisionError), scrip.hold(**job, resume=resume):
                raise ZeroDivisionError
        with scrip.hold(**job) as hold:
            hold.cost = 9
        assert hold.key == "job-6#4"
        with pytest.raises(ScripError) as caught, scrip.hold(**job):
            pass
        assert caught.value.code == "hold_replayed"
        assert state(name) == {"balance": 91, "held": 0}

    def test_of_two_runs_leaves_the_hold_to_the_one_that_works(
        self, scrip: Scrip, user: MakeUser, state: State
    ) -> None:
        name = user(100)
        job: dict[str, Any] = {"external_user_id": name, "amount": 40, "idempotency_key": "job-5"}
        with scrip.hold(**job) as hold:
            with pytest.raises(ZeroDivisionError), scrip.hold(**job, resume=True):
                raise ZeroDivisionError
            hold.cost = 9
        assert state(name) == {"balance": 91, "held": 0}

    def test_takes_up_an_open_hold_and_no_closed_one(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(100)
        job: dict[str, Any] = {"external_user_id": name, "amount": 40, "idempotency_key": "job-7"}
        # A worker that died.
        scrip.place_hold(**job)
        with scrip.hold(**job, resume=True) as hold:
            hold.cost = 9
        with pytest.raises(ScripError) as caught, scrip.hold(**job, resume=True):
            raise AssertionError("it was begun")
        assert caught.value.code == "hold_closed"
        assert state(name) == spent(91)

    @pytest.mark.usefixtures("draws")
    def test_takes_up_what_was_drawn(self, scrip: Scrip, user: MakeUser, state: State) -> None:
        name = user(100)
        job: dict[str, Any] = {"external_user_id": name, "amount": 40, "idempotency_key": "job-8"}
        placed = scrip.place_hold(**job)
        scrip.draw(placed.hold_id, 10, idempotency_key="step-1")
        with scrip.hold(**job, resume=True) as hold:
            assert hold.drawn == 10
            hold.draw(10, idempotency_key="step-1")
            hold.draw(4, idempotency_key="step-2")
        assert hold.outcome == Outcome(balance=86, charged=14)

    @pytest.mark.parametrize(
        "trouble", ["lost", "cut", "unsent", (500, {}, b"{}")], ids=["lost", "cut", "unsent", "500"]
    )
    def test_of_our_own_goes_on_where_an_answer_was_lost(
        self, faulty: Faulty, user: MakeUser, state: State, trouble: Any
    ) -> None:
        name = user(100)
        faulty.proxy.troubles.extend([trouble] * 3)
        with faulty.scrip.hold(external_user_id=name, amount=40) as hold:
            assert state(name) == {"balance": 60, "held": 40}
            hold.cost = 7
        assert state(name) == spent(93)


class TestSettling:
    @pytest.mark.parametrize("trouble", ["lost", "cut", "half", "unsent", (502, {}, b"")])
    def test_goes_on_where_answers_are_lost(self, faulty: Faulty, user: MakeUser, state: State, trouble: Any) -> None:
        name = user(100)
        faulty.proxy.only = "/settle"
        faulty.proxy.troubles.extend([trouble] * 3)
        with faulty.scrip.hold(external_user_id=name, amount=40) as hold:
            hold.cost = 7
        assert hold.outcome == Outcome(balance=93, charged=7)
        assert state(name) == spent(93)

    @pytest.mark.parametrize("trouble", ["lost", "unsent"])
    def test_that_fails_for_good_keeps_all_that_is_needed(
        self, faulty: Faulty, scrip: Scrip, user: MakeUser, state: State, trouble: str
    ) -> None:
        name = user(100)
        faulty.proxy.only = "/settle"
        faulty.proxy.troubles.extend([trouble] * 8)
        with pytest.raises(SettlementError) as caught:
            with faulty.scrip.hold(external_user_id=name, amount=40) as hold:
                hold.value = "an answer"
                hold.cost = 7
        error = caught.value
        assert (error.code, error.cost, error.value) == ("network_error", 7, "an answer")
        assert (error.hold_id, error.key, error.idempotency_key) == (hold.hold_id, hold.key, hold.key)
        assert hold.hold_id in str(error) and isinstance(error.__cause__, ScripError)
        with pytest.raises(ScripError):
            error.resume()
        assert error.resume() == error.resume() == Outcome(balance=93, charged=7)
        assert state(name) == spent(93)

    def test_in_the_midst_of_which_work_raises_leaves_its_error(self, faulty: Faulty, user: MakeUser) -> None:
        name = user(100)
        with pytest.raises(KeyError), faulty.scrip.hold(external_user_id=name, amount=40):
            faulty.proxy.troubles.extend(LOST)
            raise KeyError("gone")


class Beats:
    """Time for keepers: each beat is one period, and waits until it is worked off."""

    def __init__(self, beats: int) -> None:
        self.left = beats
        self.periods: list[float] = []
        self.over = threading.Event()

    def wait(self, stopped: threading.Event, seconds: float) -> bool:
        self.periods.append(seconds)
        if len(self.periods) > self.left:
            self.over.set()
            return stopped.wait(30)
        return stopped.is_set()

    async def pause(self, seconds: float) -> None:
        self.periods.append(seconds)
        if len(self.periods) > self.left:
            self.over.set()
            await asyncio.get_running_loop().create_future()


class TestLongWork:
    def test_keeps_its_hold_open(
        self, scrip: Scrip, user: MakeUser, state: State, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        beats = Beats(3)
        monkeypatch.setattr(_keeper, "wait", beats.wait)
        name = user(100)
        hold = scrip.hold(external_user_id=name, amount=40, expires_in_seconds=60)
        extended: list[int] = []

        def extend(seconds: int) -> models.Hold:
            extended.append(seconds)
            return scrip.extend(hold.hold_id, seconds)

        monkeypatch.setattr(hold, "extend", extend)
        with hold:
            assert beats.over.wait(30)
            hold.cost = 3
        assert (beats.periods[0], extended) == (20.0, [60, 60, 60])
        assert hold._keeper is not None
        hold._keeper._thread.join(10)
        assert not hold._keeper._thread.is_alive()
        assert state(name) == spent(97)

    def test_goes_on_through_trouble_and_learns_that_its_hold_was_closed(
        self, faulty: Faulty, user: MakeUser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        beats = Beats(3)
        monkeypatch.setattr(_keeper, "wait", beats.wait)
        faulty.proxy.only = "/extend"
        closed: Trouble = (409, {}, b'{"code":"hold_closed","message":"It is over."}')
        faulty.proxy.troubles.extend([*LOST, "lost", closed])
        with faulty.scrip.hold(external_user_id=user(100), amount=40) as hold:
            hold._keeper._thread.join(30)  # type: ignore[union-attr]
            hold.cost = 3
        assert hold.lost and hold.lost.code == "hold_closed"
        assert (faulty.proxy.seen.count(f"POST /api/v1/holds/{hold.hold_id}/extend"), len(beats.periods)) == (6, 2)

    def test_whose_hold_nobody_has_any_more_is_not_kept_open(
        self, scrip: Scrip, user: MakeUser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        go = threading.Event()
        monkeypatch.setattr(_keeper, "wait", lambda stopped, seconds: not go.wait(30))
        name = user(100)
        hold: Optional[RunningHold] = scrip.hold(external_user_id=name, amount=40)
        assert hold is not None
        hold.__enter__()
        assert hold._keeper is not None
        thread = hold._keeper._thread
        hold = None
        gc.collect()
        go.set()
        thread.join(30)
        assert not thread.is_alive()


def run(work: Any) -> None:
    asyncio.run(asyncio.wait_for(work, 60))


class Slow(httpx.AsyncHTTPTransport):
    """Lets a request with this in its path wait until the test says so, before or after it was done."""

    def __init__(self, path: str, *, after: bool) -> None:
        super().__init__()
        self.path, self.after = path, after
        self.reached, self.go = asyncio.Event(), asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        slow = self.path in request.url.path
        if slow and not self.after:
            self.reached.set()
            await self.go.wait()
        response = await super().handle_async_request(request)
        if slow and self.after:
            await response.aread()
            self.reached.set()
            await self.go.wait()
        return response


class TestAsync:
    def test_is_charged_what_it_cost_or_nothing(self, service: Service, user: MakeUser, state: State) -> None:
        name = user(100)

        async def work() -> None:
            async with AsyncScrip(service.secret_key, base_url=service.base_url) as scrip:
                async with scrip.hold(external_user_id=name, amount=40) as hold:
                    hold.cost = 12
                assert hold.outcome == Outcome(balance=88, charged=12)
                with pytest.raises(KeyError):
                    async with scrip.hold(external_user_id=name, amount=40):
                        raise KeyError("gone")
                entries = [entry.delta async for entry in scrip.ledger_entries(external_user_id=name)]
                assert entries == [-12, 100]

        run(work())
        assert state(name) == spent(88)

    @pytest.mark.usefixtures("draws")
    def test_that_is_cancelled_is_paid_for_what_was_drawn(self, service: Service, user: MakeUser, state: State) -> None:
        name = user(100)

        async def work() -> None:
            drawn = asyncio.Event()
            async with AsyncScrip(service.secret_key, base_url=service.base_url) as scrip:

                async def stream() -> None:
                    async with scrip.hold(external_user_id=name, amount=40) as hold:
                        await hold.draw(10)
                        drawn.set()
                        await asyncio.get_running_loop().create_future()

                task = asyncio.create_task(stream())
                await drawn.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

        run(work())
        assert state(name) == spent(90)

    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    def test_that_is_cancelled_while_it_is_placed_sets_nothing_aside(
        self, service: Service, user: MakeUser, state: State, after: bool
    ) -> None:
        name = user(100)

        async def work() -> None:
            slow = Slow("/holds", after=after)
            async with AsyncScrip(service.secret_key, base_url=service.base_url, transport=slow) as scrip:

                async def begin() -> None:
                    async with scrip.hold(external_user_id=name, amount=40):
                        raise AssertionError("it was begun")

                task = asyncio.create_task(begin())
                await slow.reached.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                slow.path = "nothing else"
                slow.go.set()

        run(work())
        assert state(name) == spent(100)

    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    def test_that_is_cancelled_while_it_is_settled_is_settled(
        self, service: Service, user: MakeUser, state: State, after: bool
    ) -> None:
        name = user(100)

        async def work() -> None:
            slow = Slow("/settle", after=after)
            async with AsyncScrip(service.secret_key, base_url=service.base_url, transport=slow) as scrip:

                async def cost() -> None:
                    async with scrip.hold(external_user_id=name, amount=40) as hold:
                        hold.cost = 12

                task = asyncio.create_task(cost())
                await slow.reached.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                slow.go.set()

        run(work())
        assert state(name) == spent(88)

    @pytest.mark.usefixtures("draws")
    def test_stream_that_is_closed_early_is_paid_for_what_was_drawn(
        self, service: Service, user: MakeUser, state: State
    ) -> None:
        name = user(100)

        async def work() -> None:
            async with AsyncScrip(service.secret_key, base_url=service.base_url) as scrip:

                async def stream() -> AsyncIterator[str]:
                    async with scrip.hold(external_user_id=name, amount=40) as hold:
                        for word in "abcdef":
                            await hold.draw(2)
                            yield word

                words = stream()
                assert [await words.__anext__() for _ in range(3)] == ["a", "b", "c"]
                await words.aclose()  # type: ignore[attr-defined]

        run(work())
        assert state(name) == spent(94)

    def test_that_takes_long_keeps_its_hold_open(
        self, service: Service, user: MakeUser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name = user(100)

        async def work() -> None:
            beats = Beats(2)
            monkeypatch.setattr(_keeper, "pause", beats.pause)
            async with AsyncScrip(service.secret_key, base_url=service.base_url) as scrip:
                async with scrip.hold(external_user_id=name, amount=40, expires_in_seconds=60) as hold:
                    first = (await scrip.get_hold(hold.hold_id)).expires_at
                    while not beats.over.is_set():
                        await asyncio.sleep(0)
                    assert (await scrip.get_hold(hold.hold_id)).expires_at >= first
                    hold.cost = 1
                assert beats.periods == [20.0] * 3
                assert hold._keeper is not None and hold._keeper._task is not None
                with pytest.raises(asyncio.CancelledError):
                    await hold._keeper._task

        run(work())

    def test_that_cannot_be_settled_is_resumed(
        self, service: Service, user: MakeUser, proxy: Any, state: State
    ) -> None:
        name = user(100)
        proxy.only = "/settle"
        proxy.troubles.extend(LOST)

        async def no_time(seconds: float) -> None:
            pass

        async def work() -> None:
            async with AsyncScrip(service.secret_key, base_url=proxy.base_url, sleep=no_time) as scrip:
                with pytest.raises(AsyncSettlementError) as caught:
                    async with scrip.hold(external_user_id=name, amount=40) as hold:
                        hold.value, hold.cost = ["an", "answer"], 7
                assert caught.value.value == ["an", "answer"]
                assert await caught.value.resume() == Outcome(balance=93, charged=7)

        run(work())
        assert state(name) == spent(93)


def test_what_a_hold_is_placed_with_is_what_is_sent(faulty: Faulty, user: MakeUser) -> None:
    name = user(10)
    with faulty.scrip.hold(
        external_user_id=name, amount=4, idempotency_key="k", expires_in_seconds=77, meta={"a": [1]}
    ) as hold:
        hold.cost = 1
    assert json.loads(faulty.proxy.bodies[0]) == {
        "externalUserId": name,
        "amount": 4,
        "idempotencyKey": "k",
        "expiresInSeconds": 77,
        "meta": {"a": [1]},
    }
    assert json.loads(faulty.proxy.bodies[-1]) == {"amount": 1, "onShortfall": "drain"}
