/** Everything that VPP needs of the host before it starts: its NIC, drivers, and its startup configuration. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { createFolder } from '#infra/files/folder.ts';
import type { Logger } from '#infra/log/log.ts';
import type { NodeConfig } from '#kubernetes/models/node-config.ts';
import { type ContivConfig, resolveNode, stolenNic } from '#plugins/contivconf/api.ts';
import type { StolenInterface } from '#plugins/controller/api/ports/stn.ts';
import type { PciDevices } from '#stn/daemon/pci-devices.ts';
import type { AgentCopy } from './agent-copy.ts';
import { whenFree } from './api-socket.ts';
import type { ApiSocketLock } from './api-socket-lock.ts';
import { RuntimeFolderError, StartupConfigError } from './errors.ts';
import {
  COMMANDS_FILE,
  generatedStartup,
  type PciNic,
  pciNicOf,
  STARTUP_COMMANDS,
} from './generated-startup.ts';
import type { FoundNodeConfig, NodeConfigReader } from './node-config-reader.ts';
import { startupSettings } from './startup-settings.ts';
import type { StolenNic } from './stolen-nic.ts';
import { hasCnatSettings, type VppProgram } from './vpp-program.ts';
import type { Preparation, VppStart } from './vswitch.ts';

export interface HostPreparationDeps {
  readonly nodeName: string;
  readonly config: ContivConfig;
  /** Startup configuration of the node, if the file exists. */
  readonly givenFile: string;
  /** Folder of the generated one, and of VPP's sockets. */
  readonly runtimeFolder: string;
  readonly lock: ApiSocketLock;
  readonly nodeConfigs: NodeConfigReader;
  readonly agentCopy: AgentCopy;
  readonly nic: StolenNic;
  readonly pci: Pick<PciDevices, 'bind'>;
  readonly vppProgram: () => Promise<VppProgram>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Driver of the NICs that VPP drives. */
const VPP_DRIVER = 'vfio-pci';

/** Any name: only whether DHCP is configured matters before VPP runs. */
const SOME_NIC = 'GigabitEthernet0/0/0';

const noNodeConfig: FoundNodeConfig = { nodeConfig: undefined, text: undefined };

export class HostPreparation implements Preparation {
  readonly #deps: HostPreparationDeps;

  constructor(deps: HostPreparationDeps) {
    this.#deps = deps;
  }

  async run(stop: AbortSignal, onWait: () => Promise<void>): Promise<VppStart> {
    const { lock, nic, givenFile, runtimeFolder, clock } = this.#deps;
    // What is wrong with the file, or another VPP, is found before the host loses its NIC.
    const given = this.#givenStartup();
    const apiSocket = given?.apiSocket ?? join(runtimeFolder, 'api.sock');
    await lock.take(apiSocket, stop);
    await whenFree(apiSocket, clock, stop);
    const [nodeConfig, name] = await this.#readyNodeConfig(stop, onWait);
    const { useDhcp } = this.#node(nodeConfig).main;
    const stolen = name === undefined ? undefined : await nic.take({ name, useDhcp }, stop, onWait);
    const named = this.#namedNics(nodeConfig);
    if (name === undefined) await this.#bindVmxnet3(named);
    if (given) return { configuration: givenFile, ...given };
    return this.#generate(stolen, named, hasCnatSettings(await this.#deps.vppProgram()));
  }

  whenLost(stop: AbortSignal): Promise<Error> {
    return this.#deps.nic.whenLost(stop);
  }

  async undo(): Promise<void> {
    const { nic, lock } = this.#deps;
    await nic.giveBack();
    lock.release();
  }

  /**
   * The NodeConfig, and the NIC to take. With a NIC, the agent has copied the NodeConfig, which may have been changed
   * meanwhile: the wait has no limit.
   */
  async #readyNodeConfig(
    stop: AbortSignal,
    onWait: () => Promise<void>,
  ): Promise<readonly [NodeConfig | undefined, nic: string | undefined]> {
    const { config: file, nodeName, nodeConfigs, agentCopy } = this.#deps;
    const followsNodeConfig = !file.crdNodeConfigurationDisabled;
    for (;;) {
      const found = followsNodeConfig ? await nodeConfigs.read(stop, onWait) : noNodeConfig;
      const { nodeConfig } = found;
      const [name] = stolenNic({ file, nodeName, nodeConfig });
      const request = { ...found, followsNodeConfig };
      if (name === undefined || (await agentCopy.whenComplete(request, stop, onWait)))
        return [nodeConfig, name];
    }
  }

  #node(nodeConfig: NodeConfig | undefined) {
    const { config: file, nodeName } = this.#deps;
    return resolveNode({ file, nodeName, nodeConfig, nics: [SOME_NIC], stolen: undefined });
  }

  /** @throws StartupConfigError */
  #givenStartup(): { readonly apiSocket: string } | undefined {
    const { givenFile } = this.#deps;
    if (!existsSync(givenFile)) return undefined;
    try {
      return startupSettings(readFileSync(givenFile, 'utf8'), givenFile);
    } catch (cause) {
      if (cause instanceof StartupConfigError) throw cause;
      throw new StartupConfigError(`cannot be read: ${errorText(cause)}`, {
        where: givenFile,
        cause,
      });
    }
  }

  /** PCI NICs that the configuration names. */
  #namedNics(nodeConfig: NodeConfig | undefined): readonly PciNic[] {
    const { main, others } = this.#node(nodeConfig);
    const names = [main.name ?? '', ...others.map(({ name }) => name)];
    return names.filter((name) => name !== SOME_NIC).flatMap((name) => pciNicOf(name) ?? []);
  }

  /** VPP binds other NICs itself. A failure shows in the agent, which misses the interface. */
  async #bindVmxnet3(nics: readonly PciNic[]): Promise<void> {
    const { pci, log } = this.#deps;
    for (const { address, name } of nics)
      if (name !== undefined)
        try {
          await pci.bind(address, VPP_DRIVER);
        } catch (error) {
          log.error({ nic: name, err: error }, 'the NIC cannot be bound to its driver for VPP');
        }
  }

  /** @throws RuntimeFolderError */
  #generate(
    stolen: StolenInterface | undefined,
    named: readonly PciNic[],
    hasCnat: boolean,
  ): VppStart {
    const { runtimeFolder: folder, log } = this.#deps;
    const taken = stolen?.pciAddress ? [{ address: stolen.pciAddress }] : [];
    const byAddress = new Map([...taken, ...named].map((one) => [one.address, one]));
    const devices = [...byAddress.values()];
    const configuration = join(folder, 'startup.conf');
    try {
      createFolder(folder);
      writeFileSync(join(folder, COMMANDS_FILE), STARTUP_COMMANDS);
      writeFileSync(configuration, generatedStartup({ folder, devices, hasCnat }));
    } catch (cause) {
      throw new RuntimeFolderError(
        `cannot write the startup configuration of VPP: ${errorText(cause)}`,
        { where: configuration, cause },
      );
    }
    const nics = devices.map(({ address }) => address);
    log.info({ configuration, nics }, 'generated the startup configuration of VPP');
    return { configuration, apiSocket: join(folder, 'api.sock') };
  }
}
