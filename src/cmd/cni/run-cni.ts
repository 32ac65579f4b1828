/**
 * One call of the runtime, from its environment and standard input to its standard output: reads the
 * request, sends it to the agent, and writes the result in the version of the CNI specification that
 * the runtime uses. The program keeps no state: any call may be repeated at any time.
 */
import type { CNIRequest } from '#models/cni/cni.gen.ts';
import { callAgent } from './agent-client.ts';
import { CniError, errorKinds } from './cni-error.ts';
import { type Attachment, type Command, readAttachment, readCommand } from './environment.ts';
import { firstAddress, type IpamPlugin, ipamPlugin } from './ipam-plugin.ts';
import { addressesOn, type NetworkConfig, readNetworkConfig, versionOf } from './network-config.ts';
import { addResult, type Reply } from './result.ts';
import { isSupported, NEWEST, supportedVersion, type Version, versions } from './version.ts';

export interface Outcome {
  /** Text for standard output; empty for none. */
  readonly output: string;
  readonly failure: CniError | undefined;
  /** As far as it could be parsed. */
  readonly command: string;
  readonly network: NetworkConfig | undefined;
}

interface Call {
  readonly environment: NodeJS.ProcessEnv;
  readonly command: Command;
  readonly network: NetworkConfig;
  readonly version: Version;
}

/** @param input standard input; read only when it is needed */
export async function runCni(
  environment: NodeJS.ProcessEnv,
  input: () => string | Promise<string>,
): Promise<Outcome> {
  const command = environment['CNI_COMMAND'] ?? '';
  let text = '';
  let network: NetworkConfig | undefined;
  try {
    const known = readCommand(environment);
    text = await input();
    if (known === 'VERSION') {
      const answer = { cniVersion: versionOf(text) ?? NEWEST, supportedVersions: versions };
      return { output: json(answer), failure: undefined, command, network };
    }
    network = readNetworkConfig(text);
    const version = supportedVersion(network.cniVersion, known);
    const answer = await commandHandlers[known]({ environment, command: known, network, version });
    return { output: answer ? json(answer) : '', failure: undefined, command, network };
  } catch (thrown) {
    const failure =
      thrown instanceof CniError ? thrown : new CniError('io', String(thrown), stackOf(thrown));
    const version = versionOf(text) ?? NEWEST;
    const output = json(failure.result(isSupported(version) ? version : NEWEST));
    return { output, failure, command, network };
  }
}

/** @returns the result; undefined for a command without a result */
const commandHandlers: Readonly<
  Record<Exclude<Command, 'VERSION'>, (call: Call) => Promise<object | undefined>>
> = { ADD: add, DEL: del, CHECK: check, GC: gc, STATUS: status };

async function add(call: Call): Promise<object> {
  const { network, version } = call;
  if (network.hasPrevResult)
    throw new CniError(
      'config',
      'prevResult is set, but this plugin must be the first of its chain',
    );
  const attachment = readAttachment(call.command, call.environment);
  const ipam = await ipamOf(call);
  try {
    const address = ipam ? firstAddress(await ipam.run('ADD')) : '';
    const reply = await callAgent(network.server, '/cni.RemoteCNI/Add', {
      ...requestOf(call, attachment),
      ...(ipam && { ipam_type: ipam.type, ipam_data: address }),
    });
    assertSuccess(reply);
    return addResult(reply, version);
  } catch (error) {
    // Releases the address, and reports the first of two errors. An agent that has not replied may
    // use the address, so then it stays allocated until the DEL that follows a failed ADD.
    const isOutcomeUnknown = error instanceof CniError && error.code === errorKinds.later.code;
    if (!isOutcomeUnknown) await ipam?.run('DEL').catch(() => undefined);
    throw error;
  }
}

/** Calls the agent first: an address that it may still use must not be released. */
async function del(call: Call): Promise<undefined> {
  const attachment = readAttachment(call.command, call.environment);
  const request = requestOf(call, attachment);
  assertSuccess(await callAgent(call.network.server, '/cni.RemoteCNI/Delete', request));
  await (await ipamOf(call))?.run('DEL');
}

async function check(call: Call): Promise<undefined> {
  const { server, hasPrevResult: hasPrevious, document } = call.network;
  const attachment = readAttachment(call.command, call.environment);
  if (!hasPrevious) throw new CniError('config', 'CHECK requires the prevResult of the ADD');
  const addresses = addressesOn(attachment.interfaceName, document['prevResult']);
  await (await ipamOf(call))?.run('CHECK');
  const reply = await callAgent(server, '/cni.CNIState/Check', {
    request: requestOf(call, attachment),
    addresses: addresses.map((cidr) => cidr.replace(/\/.*/, '')),
  });
  assertSuccess(reply);
}

async function gc(call: Call): Promise<undefined> {
  const { server, name, validAttachments: valid } = call.network;
  // Without the list the agent would delete every pod.
  if (!valid) throw new CniError('config', 'GC requires cni.dev/valid-attachments');
  const reply = await callAgent(server, '/cni.CNIState/GC', {
    network: name,
    valid: valid.map(({ containerId, interfaceName }) => ({
      container_id: containerId,
      interface_name: interfaceName,
    })),
  });
  assertSuccess(reply);
  await (await ipamOf(call))?.run('GC');
}

async function status(call: Call): Promise<undefined> {
  const reply = await requestStatus(call.network);
  if (!reply.ready)
    throw new CniError(
      reply.limited ? 'limited' : 'unavailable',
      reply.limited ? 'VPP is not connected' : 'the agent has not resynced yet',
      reply.reason,
    );
  await (await ipamOf(call))?.run('STATUS');
}

async function requestStatus({ server }: NetworkConfig) {
  try {
    return await callAgent(server, '/cni.CNIState/Status', {});
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    throw new CniError('unavailable', error.message, error.details);
  }
}

function ipamOf({ network, environment }: Call): Promise<IpamPlugin | undefined> {
  return ipamPlugin(network, environment, async () => {
    const { pod_cidr } = await callAgent(network.server, '/cni.CNIState/Status', {});
    if (!pod_cidr) throw new CniError('later', 'the agent has no pod subnet yet');
    return pod_cidr;
  });
}

function requestOf(
  { network, version }: Call,
  { containerId, interfaceName, networkNamespace, args }: Attachment,
): Partial<CNIRequest> {
  return {
    version,
    container_id: containerId,
    network_namespace: networkNamespace,
    interface_name: interfaceName,
    extra_nw_config: JSON.stringify(network.document),
    extra_arguments: args,
  };
}

/** @throws CniError with the error of the agent */
function assertSuccess({ result = 0, error = '' }: Reply): void {
  if (result === 0) return;
  if (result === errorKinds.later.code) throw new CniError('later', error);
  if (result === errorKinds.environment.code) throw new CniError('environment', error);
  throw new CniError('refused', error);
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? '') : '';
}
