/** netctl in the process of the test, against agents whose ports are known. */

import type { Clock } from '#infra/clock/clock.ts';
import { systemClock } from '#infra/clock/system.ts';
import type { ClusterNode, CommandContext, CommandInput, OutputFormat } from '#netctl/command.ts';
import { commands } from '#netctl/commands.ts';
import { createContext } from '#netctl/context.ts';
import { NodeDirectory } from '#netctl/nodes/node-directory.ts';
import { createOutput } from '#netctl/output/output.ts';
import { Credentials } from '#netctl/requests/credentials.ts';
import { NodeClient } from '#netctl/requests/node-client.ts';

export interface NetctlOptions {
  readonly nodes: readonly Pick<ClusterNode, 'name' | 'port' | 'socket'>[];
  readonly format?: OutputFormat;
  /** Of the terminal; default: none. */
  readonly width?: number;
  readonly clock?: Clock;
  readonly isHttps?: boolean;
  readonly timeoutMs?: number;
}

export interface NetctlRun {
  readonly aborter: AbortController;
  readonly warned: readonly string[];
  run(input?: Partial<CommandInput>): ReturnType<(typeof commands)[number]['run']>;
  text(): string;
}

export function netctlIn(name: string, options: NetctlOptions): NetctlRun {
  const { nodes, format = 'table', width, clock = systemClock } = options;
  const aborter = new AbortController();
  const { signal } = aborter;
  const all = nodes.map((node, at) => ({
    id: at + 1,
    host: '127.0.0.1',
    vppAddress: undefined,
    ...node,
  }));
  const source = {
    name: 'test',
    nodes: all,
    pods: async () => undefined,
    close: async () => undefined,
  };
  const none = { token: undefined, user: undefined, password: undefined };
  const printed: string[] = [];
  const warned: string[] = [];
  const machine: Pick<CommandContext, 'confirm' | 'runAgent' | 'localSocket'> = {
    confirm: async () => undefined,
    runAgent: async () => 0,
    localSocket: '/none',
  };
  const context = createContext({
    directory: new NodeDirectory(
      async () => source,
      undefined,
      async () => undefined,
    ),
    client: new NodeClient({
      port: 9999,
      isHttps: options.isHttps === true,
      tls: {},
      credentials: new Credentials({ ...none, askPassword: async () => undefined }),
      timeoutMs: options.timeoutMs ?? 10_000,
      clock: systemClock,
      signal,
    }),
    etcd: async () => undefined,
    machine,
    output: createOutput({
      isWide: format === 'wide',
      hasHeaders: true,
      width,
      hasColors: false,
      format,
      write: (text) => void printed.push(text),
      writeBytes: () => undefined,
      warn: () => undefined,
      yamlText: undefined,
    }),
    progress: () => undefined,
    warn: (text) => void warned.push(text),
    clock,
    build: { version: 'v1', date: '', commit: '' },
    signal,
  });
  const command = commands.find((one) => one.name === name)!;
  return {
    aborter,
    warned,
    run: (input = {}) => command.run(context, { arguments: {}, options: {}, ...input }),
    text: () => printed.join(''),
  };
}
