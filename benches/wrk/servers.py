"""Servers under wrk: starting them, driving them, and what they took."""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOKEN = "admin_" + "k" * 40
WALLETS = 10_000
# Bodies that oha chooses from: one in twenty is chosen a second time, and replayed.
LINES = 2_000_000
TICKS = os.sysconf("SC_CLK_TCK")


class Process:
    """A server of ours on a free port, ended with this program."""

    def __init__(self, command, ready, env=None, folder=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [part.replace("PORT", str(self.port)) for part in command]
        self.how = {"args": command, "env": {**os.environ, **(env or {})}, "cwd": folder, "stdout": subprocess.DEVNULL}
        self.ready = ready
        self.start()

    def start(self):
        self.process = subprocess.Popen(**self.how)
        for _ in range(300):
            try:
                self.call("GET", self.ready)
                return
            except OSError:
                time.sleep(0.1)
        sys.exit(f"{self.how['args'][0]} does not answer")

    def call(self, method, path, body=None, key=TOKEN):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request(method, path, body and json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def wrk(self, script, connections, seconds, key, wallets=WALLETS, cost=None, members=0):
        """Runs wrk; its figures, and how much processor time of this server a request took."""
        env = {**os.environ, "KEY": key, "WALLETS": str(wallets), "RUN": f"{time.time_ns():x}", "MEMBERS": str(members)}
        if cost:
            env["COST"] = cost
        command = ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "-s", f"{HERE}/{script}"]
        before = self.usage()
        ran = subprocess.run([*command, f"http://127.0.0.1:{self.port}"], capture_output=True, text=True, env=env)
        after = self.usage()
        if ran.returncode:
            sys.exit(f"wrk failed: {ran.stdout}{ran.stderr}")
        figures = json.loads(ran.stdout.splitlines()[-1])
        if figures["failed"]:
            print(f"  {figures['failed']} requests failed", flush=True)
        requests, seconds = figures["requests"], figures["seconds"]
        figures["rate"] = requests / seconds
        figures["switches"] = (after["switches"] - before["switches"]) / seconds
        figures["commits"] = (after["commits"] - before["commits"]) / seconds
        figures["micros"] = {
            kind: (ticks - before["threads"].get(kind, 0)) * 1e6 / TICKS / requests
            for kind, ticks in after["threads"].items()
        }
        return figures

    def oha(self, connections, seconds, key):
        """Runs oha, which takes a line of a file at random as each body: requests/s and the p99 in milliseconds."""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as bodies:
            run = f"{time.time_ns():x}"
            for number in range(LINES):
                user = number * 7919 % WALLETS + 1
                bodies.write(f'{{"externalUserId":"user_{user}","amount":1,"idempotencyKey":"o{run}_{number}"}}\n')
            bodies.flush()
            command = ["oha", "--no-tui", "--output-format", "json", "-c", str(connections), "-z", f"{seconds}s"]
            command += ["-m", "POST", "-T", "application/json", "-H", f"Authorization: Bearer {key}", "-Z", bodies.name]
            command += [f"http://127.0.0.1:{self.port}/api/v1/wallets/external/deduct"]
            ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode:
            sys.exit(f"oha failed: {ran.stdout}{ran.stderr}")
        figures = json.loads(ran.stdout)
        failed = sum(count for status, count in figures["statusCodeDistribution"].items() if status != "200")
        if failed:
            print(f"  oha: {failed} requests failed", flush=True)
        return figures["summary"]["requestsPerSec"], figures["latencyPercentiles"]["p99"] * 1000

    def usage(self):
        """Processor time by kind of thread, context switches, group commits: so far."""
        threads, switches = {}, 0
        folder = f"/proc/{self.process.pid}/task"
        for thread in os.listdir(folder):
            try:
                kind = re.sub(r"[-\d]+$", "", open(f"{folder}/{thread}/comm").read().strip())
                times = open(f"{folder}/{thread}/stat").read().rpartition(")")[2].split()
                status = open(f"{folder}/{thread}/status").read()
            except OSError:
                continue
            threads[kind] = threads.get(kind, 0) + int(times[11]) + int(times[12])
            switches += sum(int(count) for count in re.findall(r"ctxt_switches:\s+(\d+)", status))
        return {"threads": threads, "switches": switches, "commits": self.commits()}

    def commits(self):
        return 0


class Scrip(Process):
    """A server with a project of one product, and wallets that are rich enough."""

    def __init__(self, folder, env=None):
        self.data = tempfile.TemporaryDirectory(prefix="scrip-wrk-")
        # In a folder of its own, where no `config.toml` lies.
        command = [os.path.abspath(f"{folder}/scrip"), "serve", "--listen", "127.0.0.1:PORT", "--data-dir", "data"]
        env = {"SCRIP_ADMIN_TOKEN": TOKEN, "SCRIP_LOG": "error", **(env or {})}
        super().__init__(command, "/readyz", env, self.data.name)
        admin = "/api/admin/v1/projects"
        project = self.made(admin, {"name": "wrk"})
        self.key, self.project = project["secretKey"], f"{admin}/{project['id']}"
        product = {"name": "Credits", "type": "credits", "creditUnit": "credits"}
        product = self.product = self.made(f"{self.project}/products", product)["id"]
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        for user in range(1, WALLETS + 1):
            grant = {"externalUserId": f"user_{user}", "productId": product, "amount": 10**9, "idempotencyKey": "start"}
            connection.request("POST", "/api/v1/credit", json.dumps(grant), headers)
            connection.getresponse().read()

    def made(self, path, body):
        status, text = self.call("POST", path, body)
        if status >= 300:
            sys.exit(f"{path}: {status} {text}")
        return json.loads(text)

    def commits(self):
        _, text = self.call("GET", "/metrics")
        counts = re.findall(r"^scrip_journal_commit_duration_seconds_count\S* (\S+)", text, re.MULTILINE)
        return sum(float(count) for count in counts)
