import type { KvStore } from '#datastore/api.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { Lifecycle } from '#infra/process/lifecycle.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { FlowSource } from '#linux/socket-flows/api.ts';
import type { SocketTable } from '#linux/socket-services/api.ts';
import type { Controller } from '#plugins/controller/controller.ts';
import type { BinapiClient } from '#vpp/binapi/client/client.ts';

/** Prefix of everything that an agent stores for itself. */
const LOCAL_PREFIX = 'local/';

export const UndeployIncompleteError = defineError({
  name: 'UndeployIncompleteError',
  code: 'CV_UNDEPLOY_INCOMPLETE',
  remedy: 'Correct the named causes, then run undeploy again: it continues where it stopped.',
});

export interface UndeployDeps {
  readonly client: Pick<BinapiClient, 'start' | 'close'>;
  /** Waits for VPP. */
  readonly connection: Pick<Lifecycle, 'start'>;
  readonly controller: Pick<Controller, 'start' | 'close'>;
  readonly scheduler: Pick<Scheduler, 'close'>;
  readonly local: KvStore;
  /** Services at the sockets of this node. */
  readonly socketTable: Pick<SocketTable, 'remove'> | undefined;
  /** Connections of the sockets of this node. */
  readonly flowSource: Pick<FlowSource, 'remove'> | undefined;
  /** External configuration of gRPC clients. */
  readonly external: KvStore | undefined;
}

/**
 * Removes the configuration from VPP and Linux, and then what the agent has stored on the node.
 * @throws UndeployIncompleteError; other errors are those of the connection to VPP and of the stores
 */
export async function undeploy(deps: UndeployDeps): Promise<void> {
  const { client, connection, controller, scheduler, local, external, socketTable, flowSource } =
    deps;
  client.start();
  try {
    await connection.start();
    controller.start();
    await removeConfiguration(controller);
    await socketTable?.remove();
    flowSource?.remove();
    // Last: a second attempt needs the stored state to find what the agent owns.
    await deleteAll(local, LOCAL_PREFIX);
    if (external) await deleteAll(external, '');
  } finally {
    await scheduler.close();
    await client.close();
  }
}

async function removeConfiguration(controller: UndeployDeps['controller']): Promise<void> {
  try {
    await controller.close({ cleanup: true });
  } catch (cause) {
    const text = `the configuration was not removed completely: ${errorText(cause)}`;
    throw new UndeployIncompleteError(text, { cause });
  }
}

async function deleteAll(store: KvStore, prefix: string): Promise<void> {
  const { entries } = await store.list(prefix);
  await store.putAll(new Map(entries.map(({ key }) => [key, undefined])));
}
