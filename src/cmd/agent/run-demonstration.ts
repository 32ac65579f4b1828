/** Runs the agents of a demonstration in this process, each on a simulated VPP and Linux, until a signal stops them. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { KvStore } from '#datastore/api.ts';
import type { LevelStore } from '#datastore/level-store.ts';
import { explainedOpenError } from '#demonstration/already-running.ts';
import { type DemonstratedNode, demonstrate } from '#demonstration/demonstration.ts';
import { type DemonstrationLog, demonstrationLog } from '#demonstration/demonstration-log.ts';
import type { FakeCluster } from '#demonstration/fake-cluster.ts';
import { LiveNetwork, type TrafficNode } from '#demonstration/live-network.ts';
import { ReportedFlows } from '#demonstration/reported-flows.ts';
import { summaryText } from '#demonstration/summary.ts';
import { tour } from '#demonstration/tour.ts';
import { Traffic } from '#demonstration/traffic.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { errorText } from '#infra/errors/errors.ts';
import { Loggers } from '#infra/log/loggers.ts';
import type { Output } from '#infra/log/output.ts';
import { buildInfo } from '#infra/process/build-info.ts';
import { createUserNodeFolder, userNodeFolder } from '#infra/process/user-folder.ts';
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import { type Agent, createAgent } from './agent.ts';
import type { AgentAddress } from './cluster/other-agents.ts';
import { ownRecordings } from './embedded-nodes.ts';
import type { Environment } from './environment.ts';
import { openOwnStore } from './open-level.ts';
import { openSimulated, type SimulatedEnvironment } from './open-simulated.ts';
import { loadPluginModules } from './plugin-modules/load.ts';
import { getJson } from './report/agent-requests.ts';
import { type Settings, shopManifests } from './settings.ts';

const STANDARD_OUTPUT = 1;

/** Of the traffic: demonstrations look alike. */
const SEED = 1;

interface RunningNode {
  readonly settings: Settings;
  readonly agent: Agent;
  readonly environment: SimulatedEnvironment;
  readonly loggers: Loggers;
}

/**
 * @param ended resolves with the name of the signal that stops the agents
 * @throws DemonstrationRunningError
 */
export async function runDemonstration(
  all: readonly [Settings, ...Settings[]],
  output: Output,
  ended: Promise<string>,
): Promise<void> {
  const [first] = all;
  for (const { label } of all) createUserNodeFolder(label);
  const folder = userNodeFolder(first.label);
  const log = demonstrationLog(folder, STANDARD_OUTPUT, output, systemClock, first.env);
  const running: RunningNode[] = [];
  const aborter = new AbortController();
  let shared: LevelStore | undefined;
  let traffic: Promise<Traffic | undefined> = Promise.resolve(undefined);
  try {
    if (all.length > 1) {
      shared = await openShared(first, loggersOf(first, log, true));
      // a replay of these needs the build that has recorded them
      for (const { label } of all) rmSync(ownRecordings(label), { recursive: true, force: true });
    }
    const agentAddress = (name: string): AgentAddress | undefined => {
      const node = running.find(({ settings }) => settings.label === name);
      return node && { host: '127.0.0.1', port: node.agent.port };
    };
    for (const settings of all) running.push(await openNode(settings, log, shared, agentAddress));
    const started = start(running, (text) => output.write(text), log.file);
    traffic = started.then((cluster) =>
      // the agents are of use without traffic
      startTraffic(running, cluster, aborter.signal).catch((thrown: unknown) => {
        const error = errorText(thrown);
        if (!aborter.signal.aborted)
          running[0]!.loggers.get('traffic').warn({ error }, 'no simulated traffic');
        return undefined;
      }),
    );
    // A start that waits must not block the stop.
    const signal = await Promise.race([ended, traffic.then(() => ended)]);
    for (const { loggers } of running) loggers.get('agent').info({ signal }, 'stopping');
  } finally {
    aborter.abort();
    void traffic.then((one) => one?.stop()).catch(() => undefined);
    await Promise.all(running.map(({ agent }) => agent.stop()));
    for (const { environment } of running) await environment.close();
    await shared?.close();
  }
}

/** The store of the cluster, in the folder of its first node. */
async function openShared({ bolt, label }: Settings, loggers: Loggers): Promise<LevelStore> {
  const parts = { clock: systemClock, random: systemRandom, loggers };
  const folder = join(userNodeFolder(label), 'cluster');
  return openOwnStore(folder, bolt, parts).catch((thrown: unknown) => {
    throw explainedOpenError(thrown, label);
  });
}

async function openNode(
  settings: Settings,
  log: DemonstrationLog,
  shared: KvStore | undefined,
  agentAddress: NonNullable<Environment['agentAddress']>,
): Promise<RunningNode> {
  const loggers = loggersOf(settings, log, shared !== undefined);
  const parts = { clock: systemClock, random: systemRandom, loggers };
  const pluginModules = await loadPluginModules(settings.plugins);
  const environment = { ...(await openSimulated(settings, parts, shared)), agentAddress };
  const build = buildInfo(settings.env);
  const print = (text: string): void => log.write(text);
  const agent = createAgent({ ...parts, settings, environment, pluginModules, build, print });
  return { settings, agent, environment, loggers };
}

/** @param hasNode whether lines name their node */
function loggersOf(
  { logs, env, label }: Settings,
  log: DemonstrationLog,
  hasNode: boolean,
): Loggers {
  const start = `{"node":${JSON.stringify(label)},`;
  const write = hasNode ? (line: string) => log.write(start + line.slice(1)) : log.write;
  return new Loggers(logs, env['INITIAL_LOGLVL'], { write });
}

async function start(
  running: readonly RunningNode[],
  print: (text: string) => void,
  logFile: string | undefined,
): Promise<FakeCluster> {
  const [first, ...others] = running.map(demonstratedNode);
  const [{ settings, environment, loggers }] = running as [RunningNode];
  const { cluster, nodes } = await demonstrate([first!, ...others], {
    store: environment.cluster,
    manifests: settings.embedded!.manifests,
    serviceCidr: settings.contiv.ipamConfig.serviceCIDR,
    clock: systemClock,
    random: systemRandom,
    log: loggers.get('kubelet'),
  });
  const isShop = settings.embedded!.manifests === shopManifests;
  const stops = isShop ? tour(settings.controller['record-run']) : [];
  print(summaryText({ nodes, ignored: cluster.problems.length, tour: stops, logFile }));
  return cluster;
}

async function startTraffic(
  running: readonly RunningNode[],
  cluster: FakeCluster,
  signal: AbortSignal,
): Promise<Traffic> {
  const [{ loggers }] = running as [RunningNode];
  const nodes = running.map(({ settings, agent, environment }): TrafficNode => {
    const socket = settings.http['local-socket'];
    return {
      name: settings.label,
      vpp: environment.vpp,
      eventCount: () => agent.controller.eventCount,
      readSnapshot: async () =>
        (await getJson(socket, '/trace/node', signal, systemClock)) as NodeSnapshot,
    };
  });
  const network = new LiveNetwork(nodes, systemClock);
  const traffic = new Traffic({
    network,
    clients: cluster.trafficClients(await network.nodeAddresses()),
    flows: new ReportedFlows(
      running.map(({ settings, environment }) => ({
        name: settings.label,
        flowSource: environment.flowSource,
      })),
      systemClock,
      seededRandom(SEED),
    ),
    clock: systemClock,
    random: seededRandom(SEED),
    log: loggers.get('traffic'),
  });
  traffic.start();
  return traffic;
}

function demonstratedNode({ settings, agent, environment }: RunningNode): DemonstratedNode {
  return {
    name: settings.label,
    controller: agent.controller,
    cniSocket: settings.grpc.endpoint,
    addNamespace: environment.addNamespace,
    port: () => agent.port,
    start: () => agent.start(),
  };
}
