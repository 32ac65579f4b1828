/**
 * The command line of contiv-agent. As with the Go agent every file has a flag, and one dash is as
 * good as two.
 */
import { Argument, Command, InvalidArgumentError } from 'commander';
import { configFlag } from '#infra/config/load.ts';
import { LABEL_FLAG } from '#infra/service-label/service-label.ts';

/** Configuration files of the agent, by the name that makes flag, variable and file name. */
export const configNames = [
  'contiv',
  'controller',
  'http',
  'logs',
  'grpc',
  'etcd',
  'bolt',
  'mirror',
  'govpp',
  'kvscheduler',
] as const;

/** Where an agent on this machine listens if http.conf says nothing else. */
const LOCAL_AGENT = 'http://127.0.0.1:9999';

export interface AgentFlags {
  readonly configDir: string;
  /** Run on the embedded store and on a simulated VPP and Linux; play kubelet for the manifests. */
  readonly embedded: boolean;
  /** Folder of Kubernetes manifests for the embedded store; undefined: the examples. */
  readonly manifests: string | undefined;
  /** Instead of running, remove everything that the agent has configured on this node. */
  readonly undeploy: boolean;
  /** Instead of running, print the effective configuration. */
  readonly printConfig: boolean;
  /** Instead of running, replay what stands in this file or folder. */
  readonly replay: string | undefined;
  /** Instead of running, follow a packet through what agents that run say of their nodes. */
  readonly trace: TraceFlags | undefined;
  /** Values of the flags that configuration files and the service label are found by. */
  readonly values: Readonly<Record<string, string | undefined>>;
}

export interface TraceFlags {
  readonly from: string;
  readonly to: string;
  readonly port: number | undefined;
  readonly agents: readonly string[];
  readonly desired: boolean;
}

/** Go's flag package takes `-flag`; commander would read it as a bundle of letters. */
function twoDashes(argument: string): string {
  return /^-[a-z][a-z0-9-]+(=.*)?$/i.test(argument) ? `-${argument}` : argument;
}

/**
 * @param argv arguments after the program's name
 * @throws CommanderError, when its text is out: for wrong arguments, and for a call for help
 */
export function parseFlags(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): AgentFlags {
  const command = new Command('contiv-agent')
    .description('Configures FD.io VPP and Linux for the pods of a Kubernetes node.')
    .option('--config-dir <dir>', 'folder of the configuration files', env['CONFIG_DIR'] ?? '.')
    .option(`--${LABEL_FLAG} <name>`, 'name of this node (variable MICROSERVICE_LABEL)')
    .option('--http-port <port>', 'port of the REST server, instead of the one in http.conf')
    .option('--embedded', 'run on an embedded store and a simulated VPP and Linux', false)
    .option('--manifests <dir>', 'Kubernetes manifests for --embedded (default: examples)')
    .option('--print-config', 'print each effective value with where it comes from, and end', false)
    .option('--from <pod>', 'for trace: the pod that sends, as namespace/name')
    .option('--to <pod or address>', 'for trace: where to')
    .option('--port <number>', 'for trace: TCP port that is called', portNumber)
    .option('--agent <urls...>', 'for trace: REST servers of the agents', [LOCAL_AGENT])
    .option('--wanted', 'for trace: what the agents want, not what VPP and Linux have', false)
    .showHelpAfterError('(--help lists what there is)')
    .exitOverride()
    .addArgument(
      new Argument(
        '[command]',
        'undeploy: remove what the agent has configured, and end; replay: run recorded runs again; ' +
          'trace: follow a packet from a pod',
      ).choices(['undeploy', 'replay', 'trace']),
    )
    .argument('[recording]', 'for replay: a folder that record-run has written, or a file of it');
  for (const name of configNames)
    command.option(`--${configFlag(name)} <file>`, `configuration file, instead of ${name}.conf`);
  command.parse(argv.map(twoDashes), { from: 'user' });
  const [action, recording] = command.args;
  if ((action === 'replay') !== (recording !== undefined))
    command.error(`error: ${action === 'replay' ? 'replay what?' : `what is ${recording}?`}`);
  const options = command.opts<Record<string, unknown>>();
  const values: Record<string, string | undefined> = {};
  for (const option of command.options) {
    const value = options[option.attributeName()];
    if (typeof value === 'string') values[option.long!.slice(2)] = value;
  }
  return {
    configDir: values['config-dir']!,
    embedded: options['embedded'] === true,
    manifests: values['manifests'],
    undeploy: action === 'undeploy',
    printConfig: options['printConfig'] === true,
    replay: recording,
    trace: action === 'trace' ? traceFlags(command) : undefined,
    values,
  };
}

function traceFlags(command: Command): TraceFlags {
  const { from, to, port, agent, wanted } = command.opts<{
    from?: string;
    to?: string;
    port?: number;
    agent: string[];
    wanted: boolean;
  }>();
  if (!from || !to) command.error('error: trace needs --from and --to');
  return { from, to, port, agents: agent, desired: wanted };
}

function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a number from 1 to 65535.');
}
