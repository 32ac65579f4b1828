/** How long a NetworkPolicy takes from its POST until it refuses packets, and from its DELETE until they pass. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeApi } from './kube-api.ts';
import { apply, getObject, kubectl } from './kubectl.ts';
import { AGNHOST } from './load.ts';
import { createNamespace, deleteNamespace } from './namespaces.ts';
import { nodeName } from './network.ts';
import { percentiles } from './percentiles.ts';
import type { SuiteRun } from './suite.ts';

const NAMESPACE = 'policy-changes';
const PORT = 9000;
const REPEATS = 10;
/** Without a packet: they are refused. */
const PAUSE_MS = 500;
/** How long the policy is there, and how long not. */
const PHASE_MS = 2000;
const POLICIES_PATH = `/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/networkpolicies`;

const RECEIVER = `exec nc -u -l -k ${PORT}`;
/** 500 datagrams a second, each with its time in microseconds. `read` waits without a process. */
const SENDER = `exec 3>/dev/udp/$1/${PORT} 4<> <(:)
due=\${EPOCHREALTIME/./}
while :; do
  echo $EPOCHREALTIME >&3
  due=$((due + 2000))
  left=$((due - \${EPOCHREALTIME/./}))
  if [ $left -gt 0 ]; then
    printf -v left 0.%06d $left
    read -t $left -u 4
  fi
done`;

const pod = (name: string, node: number, ...command: string[]): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: NAMESPACE, labels: { app: name } },
  spec: {
    nodeName: nodeName(node),
    terminationGracePeriodSeconds: 0,
    containers: [{ name, image: AGNHOST, command: ['bash', '-c', ...command] }],
  },
});

interface Phase {
  readonly created: number;
  readonly deleted: number;
}

export async function measurePolicyChanges(api: KubeApi): Promise<SuiteRun> {
  createNamespace(NAMESPACE);
  try {
    await startPods();
    const begin = Date.now();
    const phases: Phase[] = [];
    for (let i = 0; i < REPEATS; i++) {
      const created = Date.now();
      await api.call('POST', POLICIES_PATH, {
        metadata: { name: 'deny' },
        spec: { podSelector: { matchLabels: { app: 'receiver' } }, policyTypes: ['Ingress'] },
      });
      await sleep(PHASE_MS);
      const deleted = Date.now();
      await api.call('DELETE', `${POLICIES_PATH}/deny`);
      await sleep(PHASE_MS);
      phases.push({ created, deleted });
    }
    const since = `--since-time=${new Date(begin - 1000).toISOString()}`;
    const received = kubectl('-n', NAMESPACE, 'logs', 'receiver', since)
      .split('\n')
      .map((line) => Number(line) * 1000)
      .sort((a, b) => a - b);
    const refused = phases.map(({ created, deleted }) => timeOfLast(received, created, deleted));
    const passed = phases.map(({ deleted }) => timeOfFirst(received, deleted));
    const missing = refused.filter((time) => time === undefined).length;
    return {
      cases: [
        {
          name: 'a policy that denies all refuses the packets of a flow that has begun',
          outcome: missing === 0 ? 'passed' : 'failed',
          message: missing === 0 ? '' : `${missing} of ${REPEATS} policies refused no packet`,
        },
      ],
      measures: [
        `from the POST of a NetworkPolicy to the last packet that passes, 500 packets a second: ${percentiles(refused.filter((time) => time !== undefined))}`,
        `from its DELETE to the first packet that passes again: ${percentiles(passed.filter((time) => time !== undefined))}`,
      ],
    };
  } finally {
    deleteNamespace(NAMESPACE);
  }
}

/** Resolves when packets arrive. */
async function startPods(): Promise<void> {
  const wait = (name: string): string =>
    kubectl('-n', NAMESPACE, 'wait', `pod/${name}`, '--for=condition=Ready', '--timeout=120s');
  apply(pod('receiver', 2, RECEIVER));
  wait('receiver');
  const { status } = getObject<{ status: { podIP: string } }>('-n', NAMESPACE, 'pod/receiver');
  apply(pod('sender', 1, SENDER, 'sender', status.podIP));
  wait('sender');
  await sleep(PHASE_MS);
  const recent = kubectl('-n', NAMESPACE, 'logs', 'receiver', '--since=1s');
  if (recent === '') throw new Error('no packet of the sender arrives');
}

/** Time of the last packet before the first pause. A packet that waited in the sender can arrive after it. */
function timeOfLast(times: readonly number[], from: number, to: number): number | undefined {
  const passed = times.filter((time) => time >= from && time < to);
  const last = passed.find((time, i) => (passed[i + 1] ?? to) - time > PAUSE_MS);
  return last === undefined ? undefined : last - from;
}

function timeOfFirst(times: readonly number[], from: number): number | undefined {
  const first = times.find((time) => time >= from && time < from + PHASE_MS);
  return first === undefined ? undefined : first - from;
}
