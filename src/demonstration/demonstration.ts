/** Starts an agent with a fake kubelet, and prints a summary. */
import type { Clock } from '#infra/clock/clock.ts';
import { problemText } from '#kubernetes/reflector/manifest-problem.ts';
import { FakeKubelet, type FakeKubeletDeps, type PodAttachment } from './fake-kubelet.ts';

const POLL_MS = 50;
const IDLE_POLLS = 5;
/** After ten seconds the summary is printed, even if events are still processed. */
const MAX_POLLS = 200;

export interface DemonstratedAgent {
  /** Port of the REST server. */
  readonly port: number;
  readonly controller: { readonly isIdle: boolean; readonly eventCount: number };
  start(): Promise<void>;
}

export interface DemonstrationDeps extends FakeKubeletDeps {
  /** Of the CNI service. */
  readonly cniSocket: string;
  readonly clock: Clock;
  readonly print: (text: string) => void;
}

/** The store is filled before the agent starts, so that its startup resync finds the cluster. */
export async function demonstrate(
  agent: DemonstratedAgent,
  { cniSocket, clock, print, ...deps }: DemonstrationDeps,
): Promise<void> {
  const kubelet = new FakeKubelet(deps);
  for (const problem of kubelet.problems) deps.log.warn(problemText(problem));
  await kubelet.fillStore();
  await agent.start();
  const pods = await kubelet.startPods(cniSocket);
  await untilIdle(agent.controller, clock);
  print(summary(pods, kubelet.problems.length, agent, deps.nodeName));
}

/** The fake kubelet's writes return as events; waits until no event has arrived for a moment. */
async function untilIdle(controller: DemonstratedAgent['controller'], clock: Clock): Promise<void> {
  let seen = -1;
  for (let poll = 0, idle = 0; poll < MAX_POLLS && idle < IDLE_POLLS; poll++) {
    await clock.sleep(POLL_MS);
    idle = controller.isIdle && controller.eventCount === seen ? idle + 1 : 0;
    seen = controller.eventCount;
  }
}

function summary(
  pods: readonly PodAttachment[],
  problems: number,
  agent: DemonstratedAgent,
  nodeName: string,
): string {
  const width = Math.max(...pods.map(({ name }) => name.length), 3) + 2;
  const url = `http://127.0.0.1:${agent.port}`;
  const attached = pods.filter(({ address }) => address !== undefined).length;
  return [
    '',
    `Node ${nodeName}: ${attached} of ${pods.length} pods attached` +
      (problems > 0 ? `, ${problems} manifests ignored (see above)` : ''),
    '',
    ...pods.map(({ name, address, error }) => `  ${name.padEnd(width)}${address ?? error}`),
    '',
    `Events processed: ${agent.controller.eventCount}. See`,
    `  ${url}/ui/                        the state of the node, live, in a browser`,
    `  ${url}/controller/event-history   events, one record each`,
    `  ${url}/scheduler/status           values in VPP and Linux, and their state`,
    `  ${url}/scheduler/graph            the same as a graph`,
    `  ${url}/contiv/v1/ipam             addresses of this node`,
    `  ${url}/readiness                  state of the agent`,
    `  ${url}/metrics                    metrics for Prometheus`,
    '',
    'The agent keeps running; Ctrl-C stops it.',
    '',
  ].join('\n');
}
