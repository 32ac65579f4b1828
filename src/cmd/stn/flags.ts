/** The command line of contiv-stn: the flags of the original, and those of what is new. */
import { Command, InvalidArgumentError } from 'commander';
import { twoDashes } from '#infra/config/go-flags.ts';
import { isPort } from '#infra/http/config.ts';

const DEFAULT_SOCKET = '/var/run/contiv/stn.sock';
const DEFAULT_STATE_DIR = '/var/run/contiv/stn';
const DEFAULT_HTTP_PORT = 9192;

export interface StnFlags {
  readonly socketPath: string;
  readonly stateDir: string;
  readonly httpPort: number;
  /** Whether the flag of the original is given that has no effect. */
  readonly hasStatusCheck: boolean;
}

/**
 * @param argv arguments after the program's name
 * @throws CommanderError after its text is printed: for invalid arguments, and for --help
 */
export function parseFlags(argv: readonly string[]): StnFlags {
  const command = new Command('contiv-stn')
    .description(
      'Takes NICs from the host for VPP, and gives them back when the vswitch does not run.',
    )
    .option('--grpc <socket>', 'unix socket of the gRPC server', absolutePath, DEFAULT_SOCKET)
    .option(
      '--state-dir <dir>',
      'folder for what the host had configured on the NICs',
      absolutePath,
      DEFAULT_STATE_DIR,
    )
    .option('--http-port <port>', 'port of the probes, on 127.0.0.1', port, DEFAULT_HTTP_PORT)
    .option('--statuscheck <port>', 'of the original; has no effect, as there', port)
    .showHelpAfterError('(--help lists all options)')
    .exitOverride();
  command.parse(argv.map(twoDashes), { from: 'user' });
  const options = command.opts<{
    grpc: string;
    stateDir: string;
    httpPort: number;
    statuscheck?: number;
  }>();
  return {
    socketPath: options.grpc,
    stateDir: options.stateDir,
    httpPort: options.httpPort,
    hasStatusCheck: options.statuscheck !== undefined,
  };
}

function absolutePath(text: string): string {
  if (!text.startsWith('/')) throw new InvalidArgumentError('It has to be an absolute path.');
  return text;
}

function port(text: string): number {
  if (!isPort(text)) throw new InvalidArgumentError('It has to be a port number.');
  return Number(text);
}
