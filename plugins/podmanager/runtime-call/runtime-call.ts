/**
 * One call of the container runtime, from the environment and the standard input of contiv-cni to its
 * standard output: reads the request, has the CNI service do it, and makes the result in the version of the
 * CNI specification that the runtime uses. Any call may be repeated at any time.
 */
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { type CNIReply, CNIRequest } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import { cniResults } from '../cni-failure.ts';
import type { CniService } from '../cni-service.ts';
import { CniError, errorKinds } from './cni-error.ts';
import { type Attachment, readAttachment, readCommand, type Variables } from './environment.ts';
import { allocatedAddresses, type IpamPlugin, ipamPlugin, type RunPlugin } from './ipam-plugin.ts';
import { addressesOn, type NetworkConfig, readNetworkConfig, versionOf } from './network-config.ts';
import { addResult } from './result.ts';
import { isSupported, NEWEST, supportedVersion, type Version } from './version.ts';

export interface RuntimeCall {
  /** The variables CNI_*. */
  readonly environment: Variables;
  /** Standard input. */
  readonly input: string;
  readonly runPlugin: RunPlugin;
  /** Aborted when contiv-cni has disconnected. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export interface Outcome {
  /** Text for standard output; empty for none. */
  readonly output: string;
  readonly failure: CniError | undefined;
}

/** A call that can be made. */
interface Request extends RuntimeCall {
  readonly service: CniService;
  readonly network: NetworkConfig;
  readonly version: Version;
}

const requests = messageCodec(CNIRequest);

export async function answerCall(service: CniService, call: RuntimeCall): Promise<Outcome> {
  try {
    const command = readCommand(call.environment);
    const network = readNetworkConfig(call.input);
    const version = supportedVersion(network.cniVersion, command);
    const result = await handlers[command]({ ...call, service, network, version });
    return { output: result ? json(result) : '', failure: undefined };
  } catch (thrown) {
    const isExpected = thrown instanceof CniError || call.signal.aborted;
    if (!isExpected) call.log.error({ err: thrown }, 'CNI call failed with an unexpected error');
    const failure =
      thrown instanceof CniError ? thrown : new CniError('refused', errorText(thrown));
    const version = versionOf(call.input) ?? NEWEST;
    return { output: json(failure.result(isSupported(version) ? version : NEWEST)), failure };
  }
}

/** @returns the result; undefined for a command without a result */
const handlers = { ADD: add, DEL: del, CHECK: check, GC: gc, STATUS: status } as const;

async function add(request: Request): Promise<object> {
  const { network, version, service, signal } = request;
  if (network.hasPrevResult)
    throw new CniError(
      'config',
      'prevResult is set, but this plugin must be the first of its chain',
    );
  const attachment = readAttachment('ADD', request.environment);
  const ipam = await ipamOf(request);
  try {
    const ipam_data = ipam ? allocatedAddresses(await ipam.run('ADD')) : '';
    const ipam_type = ipam?.type ?? '';
    const given = { ...requestOf(request, attachment), ipam_type, ipam_data };
    const reply = await service.add(requests.canonical(given), signal);
    assertSuccess(reply);
    return addResult(reply, version);
  } catch (error) {
    // Releases the address, and reports the first of two errors. The agent may still use it after a
    // temporary error, so then it stays allocated until the DEL that follows a failed ADD.
    const isOutcomeUnknown = error instanceof CniError && error.code === errorKinds.later.code;
    if (!isOutcomeUnknown) await ipam?.run('DEL').catch(() => undefined);
    throw error;
  }
}

/** Deletes first: an address that is still used must not be released. */
async function del(request: Request): Promise<undefined> {
  const attachment = readAttachment('DEL', request.environment);
  const given = requests.canonical(requestOf(request, attachment));
  assertSuccess(await request.service.delete(given, request.signal));
  await (await ipamOf(request))?.run('DEL');
}

async function check(request: Request): Promise<undefined> {
  const { hasPrevResult, document } = request.network;
  const attachment = readAttachment('CHECK', request.environment);
  if (!hasPrevResult) throw new CniError('config', 'CHECK requires the prevResult of the ADD');
  const addresses = addressesOn(attachment.interfaceName, document['prevResult']);
  await (await ipamOf(request))?.run('CHECK');
  const given = {
    request: requests.canonical(requestOf(request, attachment)),
    addresses: addresses.map((cidr) => cidr.replace(/\/.*/, '')),
  };
  assertSuccess(await request.service.check(given, request.signal));
}

async function gc(request: Request): Promise<undefined> {
  const { name, validAttachments } = request.network;
  // Without the list the agent would delete every pod.
  if (!validAttachments) throw new CniError('config', 'GC requires cni.dev/valid-attachments');
  const valid = validAttachments.map(({ containerId, interfaceName }) => ({
    container_id: containerId,
    interface_name: interfaceName,
  }));
  assertSuccess(await request.service.gc({ network: name, valid }, request.signal));
  await (await ipamOf(request))?.run('GC');
}

async function status(request: Request): Promise<undefined> {
  const { ready, limited, reason } = await request.service.status({});
  if (!ready)
    throw new CniError(
      limited ? 'limited' : 'unavailable',
      limited ? 'VPP is not connected' : 'the agent has not resynced yet',
      reason,
    );
  await (await ipamOf(request))?.run('STATUS');
}

function ipamOf(request: Request): Promise<IpamPlugin | undefined> {
  return ipamPlugin(request, async () => {
    const { pod_cidr } = await request.service.status({});
    if (!pod_cidr) throw new CniError('later', 'the agent has no pod subnet yet');
    return pod_cidr;
  });
}

function requestOf(
  { network, version }: Request,
  { containerId, interfaceName, networkNamespace, args }: Attachment,
): Partial<CNIRequest> {
  return {
    version,
    container_id: containerId,
    network_namespace: networkNamespace,
    interface_name: interfaceName,
    extra_nw_config: network.text,
    extra_arguments: args,
  };
}

/** @throws CniError with the error of the service */
function assertSuccess({ result, error }: CNIReply): void {
  if (result === cniResults.success) return;
  if (result === cniResults.tryAgainLater) throw new CniError('later', error);
  if (result === cniResults.invalidRequest) throw new CniError('environment', error);
  throw new CniError('refused', error);
}

function json(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
