import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { HealthReply } from '#plugins/service/health-check/health-check-port.ts';
import { HealthCheckServers } from '#plugins/service/health-check/health-check-servers.ts';
import { healthReply } from '#plugins/service/health-check/health-reply.ts';

/** Ports in memory: `taken` ones belong to other processes. */
function harness() {
  const clock = new ManualClock();
  const taken = new Set<number>();
  const open = new Map<number, () => HealthReply>();
  const warnings: unknown[] = [];
  const lines: unknown[] = [];
  const kubeProxy = { isRunning: false };
  const proxy = { isHealthy: true };
  const servers = new HealthCheckServers({
    isProxyHealthy: () => proxy.isHealthy,
    clock,
    random: { next: () => 1, bytes: (length) => new Uint8Array(length) },
    kubeProxy: { isRunning: async () => kubeProxy.isRunning },
    log: {
      ...silentLogger,
      warn: (fields: unknown) => void warnings.push(fields),
      info: (...args: unknown[]) => void lines.push(args[1]),
    },
    port: {
      async open(port, reply) {
        await clock.turn();
        if (taken.has(port) || open.has(port)) throw new Error('address already in use');
        open.set(port, reply);
        return { close: async () => void open.delete(port) };
      },
    },
  });
  const serve = async (checks: Record<string, [port: number, localEndpoints: number]>) => {
    const entries = Object.entries(checks).map(
      ([name, [port, localEndpoints]]) => [`shop/${name}`, { port, localEndpoints }] as const,
    );
    servers.replace(new Map(entries));
    await servers.settled();
  };
  return { proxy, clock, taken, open, warnings, lines, kubeProxy, servers, serve };
}

test('the reply has status, headers and body of kube-proxy', () => {
  assert.deepEqual(healthReply('shop/web', 2, true), {
    status: 200,
    headers: {
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
      'X-Load-Balancing-Endpoint-Weight': '2',
    },
    body: `{
	"service": {
		"namespace": "shop",
		"name": "web"
	},
	"localEndpoints": 2,
	"serviceProxyHealthy": true
}`,
  });
  assert.equal(healthReply('shop/web', 0, true).status, 503);
});

test('a node whose services are not configured gets no traffic, whatever its endpoints', async () => {
  const { proxy, open, serve } = harness();
  await serve({ web: [31_000, 2] });
  proxy.isHealthy = false;
  const { status, body } = open.get(31_000)!();
  assert.equal(status, 503);
  assert.deepEqual(JSON.parse(body), {
    service: { namespace: 'shop', name: 'web' },
    localEndpoints: 2,
    serviceProxyHealthy: false,
  });
  proxy.isHealthy = true;
  assert.equal(open.get(31_000)!().status, 200);
});

test('a service has its port as long as it has a health check', async () => {
  const { open, serve } = harness();
  await serve({ web: [31_000, 1], api: [31_001, 0] });
  assert.deepEqual([...open.keys()], [31_000, 31_001]);
  assert.equal(open.get(31_000)?.().status, 200);
  assert.equal(open.get(31_001)?.().status, 503);
  await serve({ web: [31_000, 0] });
  assert.deepEqual([...open.keys()], [31_000]);
  assert.equal(open.get(31_000)?.().status, 503, 'the count has effect without a new server');
});

test('a service gets another port, and another service gets its old one', async () => {
  const { open, serve, servers } = harness();
  await serve({ web: [31_000, 1] });
  await serve({ web: [31_002, 1], api: [31_000, 0] });
  assert.deepEqual([...open.keys()].toSorted(), [31_000, 31_002]);
  assert.match(open.get(31_000)?.().body ?? '', /"name": "api"/);
  assert.equal(servers.failures().size, 0);
});

test('changes while a port is being opened are not lost', async () => {
  const { open, servers, serve } = harness();
  const first = serve({ web: [31_000, 1] });
  const second = serve({});
  const third = serve({ api: [31_001, 1] });
  await Promise.all([first, second, third]);
  assert.deepEqual([...open.keys()], [31_001]);
  await servers.close();
  assert.equal(open.size, 0);
});

test('a port that is in use is reported once by service, retried, and affects no other one', async () => {
  const { clock, taken, open, warnings, servers, serve } = harness();
  taken.add(31_000);
  await serve({ web: [31_000, 1], api: [31_001, 1] });
  assert.deepEqual([...open.keys()], [31_001]);
  const error = servers.failures().get('shop/web');
  assert.equal(error?.code, 'CV_SERVICE_HEALTH_CHECK_PORT');
  assert.match(error?.message ?? '', /shop\/web on port 31000: address already in use/);
  await clock.advance(5_000);
  await servers.settled();
  assert.equal(warnings.length, 1);
  taken.delete(31_000);
  await clock.advance(60_000);
  await servers.settled();
  assert.deepEqual([...open.keys()].toSorted(), [31_000, 31_001]);
  assert.equal(servers.failures().size, 0);
});

test('a failed port of a service that goes is not retried', async () => {
  const { clock, taken, open, servers, serve } = harness();
  taken.add(31_000);
  await serve({ web: [31_000, 1] });
  await serve({});
  taken.delete(31_000);
  await clock.advance(60_000);
  await servers.settled();
  assert.equal(open.size + servers.failures().size, 0);
});

test('ports are left to kube-proxy while it runs, and said once', async () => {
  const { clock, open, warnings, lines, kubeProxy, servers, serve } = harness();
  kubeProxy.isRunning = true;
  await serve({ web: [31_000, 1] });
  await serve({ web: [31_000, 1], api: [31_001, 1] });
  assert.equal(open.size, 0);
  assert.equal(servers.isLeftToKubeProxy, true);
  await clock.advance(300_000);
  assert.equal(lines.length, 1);
  assert.match(String(lines[0]), /kube-proxy runs on this node/);
  kubeProxy.isRunning = false;
  await clock.advance(60_000);
  await servers.settled();
  assert.deepEqual([...open.keys()], [31_000, 31_001]);
  assert.equal(lines.length, 2);
  assert.equal(warnings.length, 0);
  await servers.close();
  assert.equal(clock.pending, 0);
});

test('a kube-proxy that starts later gets the ports of the agent', async () => {
  const { clock, open, lines, kubeProxy, servers, serve } = harness();
  await serve({ web: [31_000, 1] });
  assert.equal(open.size, 1);
  assert.equal(lines.length, 0);
  kubeProxy.isRunning = true;
  await clock.advance(60_000);
  await servers.settled();
  assert.equal(open.size, 0);
  assert.equal(lines.length, 1);
});

test('a port that kube-proxy has taken meanwhile is left to it at once, without a warning', async () => {
  const { taken, open, warnings, kubeProxy, servers, serve } = harness();
  await serve({ web: [31_000, 1] });
  kubeProxy.isRunning = true;
  taken.add(31_001);
  await serve({ web: [31_000, 1], api: [31_001, 1] });
  assert.equal(open.size + servers.failures().size + warnings.length, 0);
  assert.equal(servers.isLeftToKubeProxy, true);
});
