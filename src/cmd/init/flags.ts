/** The command line of contiv-init: the flags of the original, and those of this one. */
import { Command } from 'commander';
import { twoDashes } from '#infra/config/go-flags.ts';
import { configFlag } from '#infra/config/load.ts';
import { LABEL_FLAG } from '#infra/service-label/service-label.ts';

/** Configuration files that contiv-init reads itself; the agent gets the same flags. */
const sharedConfigs = ['contiv', 'etcd', 'bolt', 'mirror', 'grpc'];

export interface InitFlags {
  readonly vppBin: string;
  readonly agentBin: string;
  readonly vppConfig: string;
  /** undefined: that of contiv.conf. */
  readonly stnSocket: string | undefined;
  readonly isVppOnly: boolean;
  readonly configDir: string;
  /** By flag name without dashes. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** Arguments of the agent: what the command line sets and concerns it, too. */
  readonly agentArgs: readonly string[];
}

/**
 * @param argv arguments after the program's name
 * @throws CommanderError after its text is printed: for invalid arguments, and for --help
 */
export function parseFlags(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): InitFlags {
  const command = new Command('contiv-init')
    .description('Starts VPP and contiv-agent on a node, and stops them in the reverse order.')
    .option('--vpp-bin <file>', 'program of VPP', '/usr/bin/vpp')
    .option('--agent-bin <file>', 'program of the agent', '/usr/bin/contiv-agent')
    .option('--vpp-only', 'start VPP only: the agent runs in a container of its own', false)
    .option(
      '--vpp-config <file>',
      "VPP's startup configuration; if it does not exist, one is generated",
      '/etc/vpp/contiv-vswitch.conf',
    )
    .option(
      '--stn-server-socket <file>',
      'socket of the STN daemon; default: stnSocketFile of contiv.conf',
    )
    .option('--config-dir <dir>', 'folder with the configuration files (variable CONFIG_DIR)')
    .option(`--${LABEL_FLAG} <name>`, 'name of this node (variable MICROSERVICE_LABEL)')
    .showHelpAfterError('(--help lists all options)')
    .exitOverride();
  for (const name of [...sharedConfigs, 'logs'])
    command.option(`--${configFlag(name)} <file>`, `configuration file; default: ${name}.conf`);
  command.parse(argv.map(twoDashes), { from: 'user' });
  const options = command.opts<Record<string, unknown>>();
  const values: Record<string, string | undefined> = {};
  for (const option of command.options) {
    const value = options[option.attributeName()];
    if (typeof value === 'string') values[option.long!.slice(2)] = value;
  }
  const shared = ['config-dir', LABEL_FLAG, ...[...sharedConfigs, 'logs'].map(configFlag)];
  return {
    vppBin: values['vpp-bin']!,
    agentBin: values['agent-bin']!,
    vppConfig: values['vpp-config']!,
    stnSocket: values['stn-server-socket'],
    isVppOnly: options['vppOnly'] === true,
    configDir: values['config-dir'] || env['CONFIG_DIR'] || '.',
    values,
    agentArgs: shared.flatMap((flag) =>
      values[flag] === undefined ? [] : [`--${flag}=${values[flag]}`],
    ),
  };
}
