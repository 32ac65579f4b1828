/** Options that every command has, for the command line, completion and docs/netctl.md. */
import type { OutputFormat } from './command.ts';

export interface GlobalOption {
  /** Without dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** Name of the value; undefined: a switch. */
  readonly value?: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly completes?: 'files';
  /** Of a number. */
  readonly largest?: number;
  readonly isRepeatable?: boolean;
}

const formats: readonly OutputFormat[] = ['table', 'wide', 'json', 'yaml'];

export const globalOptions: readonly GlobalOption[] = [
  {
    name: 'output',
    short: 'o',
    value: 'format',
    description: `${formats.join(', ')}; default: table`,
    choices: formats,
  },
  { name: 'no-headers', description: 'leave out the titles of tables' },
  {
    name: 'server',
    value: 'address',
    description: 'ask this agent (host, host:port or unix:/socket), not all; repeatable',
    isRepeatable: true,
  },
  {
    name: 'etcd-config',
    value: 'file',
    description: 'read the nodes from etcd, with this etcd.conf',
    completes: 'files',
  },
  {
    name: 'kubeconfig',
    value: 'file',
    description: 'read the nodes from the Kubernetes API server',
    completes: 'files',
  },
  {
    name: 'http-client-config',
    value: 'file',
    description: 'port, TLS and credentials of the agents',
    completes: 'files',
  },
  {
    name: 'port',
    value: 'number',
    description: 'port of the agents; default: 9999',
    largest: 65_535,
  },
  { name: 'https', description: 'use HTTPS' },
  { name: 'insecure', description: 'accept any certificate of an agent' },
  {
    name: 'ca-file',
    value: 'file',
    description: 'certificates of the authorities to trust',
    completes: 'files',
  },
  {
    name: 'user',
    value: 'name',
    description: 'user; the password is NETCTL_PASSWORD, or asked for',
  },
  { name: 'token', value: 'token', description: 'a token; safer in the variable NETCTL_TOKEN' },
  {
    name: 'timeout',
    value: 'seconds',
    description: 'longest wait for an agent; default: 10',
    largest: 86_400,
  },
];
