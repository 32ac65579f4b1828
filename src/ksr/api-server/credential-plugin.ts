/**
 * A credential plugin: the program that a kubeconfig names under `exec`. The library of Kubernetes would start it, too, but
 * leaves one that hangs behind, with each attempt another one.
 */
import { execFile } from 'node:child_process';
import { systemClock } from '#infra/clock/system.ts';

/** A plugin may ask a service on the network. */
const LIMIT_MS = 60_000;

interface PluginOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export interface PluginCredential {
  readonly token: string | undefined;
  /** PEM. */
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

export class CredentialPlugin {
  readonly #options: PluginOptions;
  readonly #limitMs: number;
  #last: { readonly credential: PluginCredential; readonly expires: number } | undefined;

  /**
   * @param exec of the user in the kubeconfig
   * @throws Error without a command
   */
  constructor(exec: unknown, limitMs = LIMIT_MS) {
    this.#options = pluginOptions(exec);
    this.#limitMs = limitMs;
  }

  /** Runs the plugin if its last answer has expired. */
  async credential(): Promise<PluginCredential> {
    if (this.#last === undefined || this.#last.expires <= systemClock.wallTime())
      this.#last = answerOf(await this.#run());
    return this.#last.credential;
  }

  #run(): Promise<string> {
    const { command, args, env } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const limits = { timeout: this.#limitMs, killSignal: 'SIGKILL' } as const;
    execFile(command, args, { ...limits, env }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (error.killed) {
        const seconds = this.#limitMs / 1000;
        reject(new Error(`the credential plugin ${command} did not end within ${seconds} s`));
      } else reject(new Error(`the credential plugin ${command}: ${stderr || error.message}`));
    });
    return promise;
  }
}

function pluginOptions(exec: unknown): PluginOptions {
  const { command, args, env } = fieldsOf(exec);
  if (typeof command !== 'string' || command === '')
    throw new Error('the user has a credential plugin without a command');
  const variables = (Array.isArray(env) ? env : []).map((one) => {
    const { name, value } = fieldsOf(one);
    return [String(name), String(value)];
  });
  return {
    command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: { ...process.env, ...Object.fromEntries(variables) },
  };
}

/** @param text an ExecCredential */
function answerOf(text: string): { credential: PluginCredential; expires: number } {
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = fieldsOf(
    fieldsOf(JSON.parse(text))['status'],
  );
  const credential = {
    token: textOf(token),
    certificate: textOf(clientCertificateData),
    key: textOf(clientKeyData),
  };
  const expires = textOf(expirationTimestamp);
  return { credential, expires: expires === undefined ? Infinity : Date.parse(expires) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
