import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { StatusCheck } from '#infra/status/status.ts';
import { cniConfiguration } from '#plugins/podmanager/cni-configuration.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

const CONTENT = '{"plugins":[]}';

class Node {
  readonly #folder = temporaryFolder('cni-configuration');
  readonly source = join(this.#folder, 'source.conflist');
  readonly folder = join(this.#folder, 'net.d');
  readonly target = join(this.folder, '10-contiv-vpp.conflist');
  readonly clock = new ManualClock();
  readonly status = new StatusCheck(this.clock, { version: '', date: '', commit: '' });
  isReady = false;
  isVppRunning = true;

  constructor() {
    mkdirSync(this.folder);
    writeFileSync(this.source, CONTENT);
  }

  async start() {
    const agent = cniConfiguration({
      source: this.source,
      target: this.target,
      isReady: () => this.isReady,
      isVppRunning: async () => this.isVppRunning,
      status: this.status,
      clock: this.clock,
      log: silentLogger,
    });
    await agent.init?.();
    await agent.afterInit?.();
    return agent;
  }

  /** Lets the agent look again, and its files be written. */
  async pass(): Promise<void> {
    for (let i = 0; i < 10; i++) {
      await this.clock.advance(100);
      await setTimeout(5);
    }
  }

  problem(): string | undefined {
    this.status.readProblems();
    return this.status.component('cni-configuration').error;
  }
}

describe('CNI configuration', () => {
  it('is written when pods can be attached, not before', async () => {
    const node = new Node();
    const agent = await node.start();
    await node.pass();
    assert.equal(existsSync(node.target), false);
    node.isReady = true;
    await node.pass();
    assert.equal(readFileSync(node.target, 'utf8'), CONTENT);
    assert.deepEqual(readdirSync(node.folder), ['10-contiv-vpp.conflist']);
    await agent.close?.();
  });

  it('is removed by a start without VPP, as after a reboot', async () => {
    const node = new Node();
    writeFileSync(node.target, 'old');
    node.isVppRunning = false;
    const agent = await node.start();
    assert.equal(existsSync(node.target), false);
    await agent.close?.();
  });

  it('stays while an agent restarts beside its VPP, and becomes that of the new agent', async () => {
    const node = new Node();
    writeFileSync(node.target, 'old');
    const agent = await node.start();
    await node.pass();
    assert.equal(readFileSync(node.target, 'utf8'), 'old');
    node.isReady = true;
    await node.pass();
    assert.equal(readFileSync(node.target, 'utf8'), CONTENT);
    await agent.close?.();
  });

  it('that cannot be written is a problem of the node until it is', async () => {
    const node = new Node();
    rmSync(node.folder, { recursive: true });
    node.isReady = true;
    const agent = await node.start();
    await node.pass();
    assert.match(node.problem() ?? '', /cannot write the CNI configuration/);
    mkdirSync(node.folder);
    await node.pass();
    assert.equal(node.problem(), undefined);
    assert.equal(readFileSync(node.target, 'utf8'), CONTENT);
    await agent.close?.();
  });
});
