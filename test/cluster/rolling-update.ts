/**
 * The suite `rolling-update`: the backends of a service are replaced while a client on another node opens connections and has
 * others open. Pods that end serve 15 s longer, as web servers are configured to, and the client ends its
 * connections after 10 s: none of them has to be cut.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { apply, getObject, kubectl } from './kubectl.ts';
import { AGNHOST } from './load.ts';
import { createNamespace, deleteNamespace } from './namespaces.ts';
import { nodeName } from './network.ts';
import type { Suite } from './suite.ts';

const NAMESPACE = 'rolling';
const PORT = 8080;
const BACKENDS = 4;
const NEW_PER_SECOND = 500;
const OPEN = 50;
const WAIT = '--timeout=300s';
/** All open connections are younger. */
const SETTLE_MS = 15_000;

interface Counted {
  readonly requests: number;
  readonly failed: number;
  readonly openRequests: number;
  readonly cut: number;
}

export const rollingUpdateSuite: Suite = {
  title: 'Rolling update of a service under load',
  notRun: [],
  run: async () => {
    createNamespace(NAMESPACE);
    try {
      start();
      await sleep(SETTLE_MS);
      const before = counted();
      kubectl('-n', NAMESPACE, 'rollout', 'restart', 'deployment/server');
      kubectl('-n', NAMESPACE, 'rollout', 'status', 'deployment/server', WAIT);
      await sleep(2 * SETTLE_MS);
      const after = counted();
      const failed = after.failed - before.failed;
      const cut = after.cut - before.cut;
      const measure =
        `${failed} of ${after.requests - before.requests} new connections refused or lost, ` +
        `${cut} of ${OPEN} open connections cut at a time (${after.openRequests - before.openRequests} requests)`;
      const name = `${NEW_PER_SECOND} new connections a second and ${OPEN} open ones survive the replacement of all ${BACKENDS} backends`;
      const outcome = failed + cut === 0 ? 'passed' : 'failed';
      const message = outcome === 'passed' ? '' : failures();
      return { cases: [{ name, outcome, message }], measures: [measure] };
    } finally {
      deleteNamespace(NAMESPACE);
    }
  },
};

function start(): void {
  const labels = { app: 'server' };
  const metadata = { name: 'server', namespace: NAMESPACE };
  const server = {
    name: 'server',
    image: AGNHOST,
    args: ['netexec', `--http-port=${PORT}`],
    readinessProbe: { httpGet: { path: '/hostname', port: PORT }, periodSeconds: 1 },
    lifecycle: { preStop: { sleep: { seconds: 15 } } },
  };
  const template = {
    metadata: { labels },
    spec: { terminationGracePeriodSeconds: 30, containers: [server] },
  };
  apply(
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: BACKENDS,
        selector: { matchLabels: labels },
        strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        template,
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ port: 80, targetPort: PORT }] },
    },
  );
  kubectl('-n', NAMESPACE, 'rollout', 'status', 'deployment/server', WAIT);
  const { spec } = getObject<{ spec: { clusterIP: string } }>('-n', NAMESPACE, 'service/server');
  const script = readFileSync(join(import.meta.dirname, 'rolling-client.mjs'), 'utf8');
  apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'client', namespace: NAMESPACE },
    spec: {
      nodeName: nodeName(1),
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'client',
          image: 'contiv-vswitch:0.1.0',
          imagePullPolicy: 'IfNotPresent',
          command: [
            ...['node', '--input-type=module', '-e', script],
            ...[spec.clusterIP, String(NEW_PER_SECOND), String(OPEN)],
          ],
        },
      ],
    },
  });
  kubectl('-n', NAMESPACE, 'wait', 'pod/client', '--for=condition=Ready', WAIT);
}

function counted(): Counted {
  const lines = clientLog().filter((line) => line.startsWith('counted '));
  const last = lines.at(-1);
  if (last === undefined) throw new Error('the client has counted nothing');
  return JSON.parse(last.slice('counted '.length));
}

/** The first ones. */
function failures(): string {
  return clientLog()
    .filter((line) => !line.startsWith('counted '))
    .slice(0, 5)
    .join('; ');
}

function clientLog(): readonly string[] {
  return kubectl('-n', NAMESPACE, 'logs', 'client').split('\n');
}
