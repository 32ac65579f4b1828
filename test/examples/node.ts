/** A node with handlers of one's own: event loop, scheduler and descriptors on simulated VPP and Linux. */

import { createPlugins, type Plugins } from '#cmd/agent/plugins.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { linuxDescriptors } from '#linux/descriptors/linux-descriptors.ts';
import { hostPort } from '#linux/host-port.ts';
import { mergeValues } from '#models/merge.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import type { EventHandler } from '#plugins/controller/api/event-handler.ts';
import { DbResync } from '#plugins/controller/api/events.ts';
import { Controller } from '#plugins/controller/controller.ts';
import { DesiredState } from '#plugins/controller/desired-state.ts';
import { AddPod, type AddPodReply, DeletePod } from '#plugins/podmanager/api.ts';
import { serviceDefaults } from '#plugins/service/config.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { controllerConfig } from '#test/plugins/controller/controller-harness.ts';
import { FakeStn } from '#test/plugins/fake-ports.ts';
import { testKeys } from '#test/plugins/test-keys.ts';
import { contivConfig } from '#test/plugins/test-node.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { vppPort } from '#vpp/vpp-port.ts';

const YAML = 'ipamConfig:\n  nodeInterconnectCIDR: 192.168.16.0/24\n';

export class ExampleNode {
  readonly cluster = new MemoryStore();
  readonly local = new MemoryStore();
  readonly mirror = new MemoryStore();
  readonly plugins: Plugins;
  readonly controller: Controller;
  readonly scheduler: Scheduler;
  readonly linux = new SimLinux(systemRandom);
  readonly vpp: SimVpp;
  readonly #client: BinapiClient;

  /** @param wire gives all handlers, made out of those that there are */
  constructor(wire: (plugins: Plugins) => readonly EventHandler[]) {
    const around = { clock: systemClock, random: systemRandom, log: silentLogger };
    this.vpp = new SimVpp({ host: this.linux, ...around });
    const client = new BinapiClient({
      ...around,
      connect: this.vpp.connect(),
      replyTimeoutMs: 5_000,
      health: { intervalMs: 60_000, timeoutMs: 60_000, maxMisses: 10 },
    });
    this.#client = client;
    this.scheduler = createScheduler({
      descriptors: [
        ...vppDescriptors({ client, ...around }),
        ...linuxDescriptors({ host: this.linux, label: 'node1', log: silentLogger }),
      ],
      ...around,
    });
    const desired = new DesiredState();
    this.plugins = createPlugins(
      'node1',
      { contiv: contivConfig(YAML), service: serviceDefaults },
      {
        cluster: this.cluster,
        local: this.local,
        localDisk: undefined,
        vpp: vppPort(client),
        host: hostPort(this.linux, () => false),
        stn: new FakeStn(),
        ownKeys: testKeys('node1'),
        sessions: { read: async () => [] },
        desired,
      },
    );
    this.controller = new Controller({
      ...around,
      handlerLog: () => silentLogger,
      config: controllerConfig({ enableVerification: true }),
      handlers: wire(this.plugins),
      desired,
      sink: this.scheduler,
      merge: mergeValues,
      southboundGeneration: () => 1,
      reportState: () => undefined,
      print: () => undefined,
    });
  }

  async start(): Promise<void> {
    this.#client.start();
    await this.#client.whenConnected();
    this.controller.start();
    await this.run(DbResync.event({ local: false, kubeState: {}, externalConfig: {} }));
  }

  /** Resolves when the event and what follows from it are over. */
  async run(event: Event): Promise<void> {
    this.controller.push(event);
    while (!this.controller.isIdle) await systemClock.turn();
  }

  async add(pod: string): Promise<AddPodReply[]> {
    const networkNamespace = `/run/netns/${pod}`;
    this.linux.addNamespace(networkNamespace);
    const replies = await this.controller.pushAndWait(
      AddPod.event({ ...attachmentOf(pod), networkNamespace, ipamType: '', ipamData: '' }),
    );
    while (!this.controller.isIdle) await systemClock.turn();
    return replies;
  }

  async delete(pod: string): Promise<void> {
    await this.controller.pushAndWait(DeletePod.event(attachmentOf(pod)));
    while (!this.controller.isIdle) await systemClock.turn();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.controller.close({ cleanup: false });
    await this.scheduler.close();
    await this.#client.close();
  }
}

function attachmentOf(pod: string) {
  return {
    pod: { namespace: 'default', name: pod },
    containerId: `container-of-${pod}`,
    interfaceName: 'eth0',
  };
}
