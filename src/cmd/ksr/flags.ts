/** The command line of contiv-ksr: the flags of the original. */
import { Command } from 'commander';
import { twoDashes } from '#infra/config/go-flags.ts';
import { configFlag } from '#infra/config/load.ts';
import { LABEL_FLAG } from '#infra/service-label/service-label.ts';

/** Names of the configuration files; each gives a flag, a variable and a file name. */
const configNames = ['ksr', 'etcd', 'http', 'logs'] as const;

export const KUBE_CONFIG_FLAG = 'kube-config';

export interface KsrFlags {
  readonly configDir: string;
  /** By flag name without dashes. */
  readonly values: Readonly<Record<string, string | undefined>>;
}

/**
 * @param argv arguments after the program's name
 * @throws CommanderError after its text is printed: for invalid arguments, and for --help
 */
export function parseFlags(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): KsrFlags {
  const configDir = env['CONFIG_DIR'] || '.';
  const command = new Command('contiv-ksr')
    .description('Reflects the state of Kubernetes into etcd for the agents of the nodes.')
    .option('--config-dir <dir>', 'folder with the configuration files', configDir)
    .option(
      `--${KUBE_CONFIG_FLAG} <file>`,
      'kubeconfig of the API server (variable KUBE_CONFIG); default: /etc/kubernetes/admin.conf if it exists, else the service account of the pod',
    )
    .option(`--${LABEL_FLAG} <name>`, 'name in the keys of etcd (variable MICROSERVICE_LABEL)')
    .option('--http-port <port>', 'port of the REST server; overrides http.conf')
    .showHelpAfterError('(--help lists all options)')
    .exitOverride();
  for (const name of configNames)
    command.option(`--${configFlag(name)} <file>`, `configuration file; default: ${name}.conf`);
  command.parse(argv.map(twoDashes), { from: 'user' });
  const options = command.opts<Record<string, string | undefined>>();
  const values = Object.fromEntries(
    command.options.map((option) => [option.long!.slice(2), options[option.attributeName()]]),
  );
  return { configDir: values['config-dir'] || configDir, values };
}
