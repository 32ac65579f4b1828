/**
 * Agent and VPP with the capabilities of their containers, in file systems as a container runtime mounts them:
 * read-only, with /proc/sys and /sys read-only.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { programFile } from '#test/support/program-command.ts';
import { withoutKubeClients, withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { renderChart } from '../../scripts/lib/deploy/chart.ts';
import { RealNode } from '../integration/support/node.ts';
import { ping } from '../integration/support/traffic.ts';
import { containerOf, find, objectsOf } from './support/objects.ts';

const limits = {
  skip: withoutNodes() || withoutVhostNet() || withoutKubeClients('helm'),
  timeout: 240_000,
};

const agentMain = programFile('agent');

/** Of a container in the chart with VPP without privileges. */
function capabilitiesOf(container: string): readonly string[] {
  const objects = objectsOf(renderChart({ vpp: { privileged: false } }));
  const workload = find(objects, 'DaemonSet', 'contiv-vswitch');
  const { privileged, capabilities } = containerOf(workload, container).securityContext;
  assert.equal(privileged, undefined);
  return capabilities!.add!;
}

/** Words before a command, for which it runs as in its container; /tmp and /run are its volumes. */
function contained(capabilities: readonly string[]): readonly string[] {
  const mounts = [
    'mount --rbind /tmp /tmp',
    // with the namespaces of pods in it
    'mount --rbind /run /run',
    ...['/proc/sys', '/sys', '/'].flatMap((path) => [
      ...(path === '/' ? [] : [`mount --bind ${path} ${path}`]),
      `mount -o remount,ro,bind ${path}`,
    ]),
    'exec "$@"',
  ];
  const added = capabilities.map((name) => `+${name.toLowerCase()}`);
  return [
    ...['unshare', '--mount', '--propagation', 'slave', 'sh', '-ec', mounts.join('\n'), 'sh'],
    ...['setpriv', '--no-new-privs', `--bounding-set=${['-all', ...added].join(',')}`],
  ];
}

describe('capabilities of the containers', limits, () => {
  const folder = mkdtempSync(join(tmpdir(), 'capabilities-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** A program that starts the agent as its container does. */
  function containedAgent(capabilities: readonly string[]): string {
    const words = [
      ...contained(capabilities),
      ...['sh', '-ec', 'mount -o remount,rw,bind /proc/sys && exec "$@"', 'sh'],
      ...[process.execPath, agentMain],
    ];
    const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
    const program = join(folder, 'agent');
    writeFileSync(program, `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`);
    chmodSync(program, 0o755);
    return program;
  }

  it('suffice to connect pods by TAPs, after a restart of either, too', async () => {
    // the others of VPP are for links of the host and for huge pages
    const vppCapabilities = capabilitiesOf('contiv-vpp').filter(
      (name) => name === 'NET_ADMIN' || name === 'SYS_ADMIN',
    );
    const agentCapabilities = capabilitiesOf('contiv-agent');
    await using node = await RealNode.create({
      agentMain: containedAgent(agentCapabilities),
      vppWrapper: contained(vppCapabilities),
    });
    await node.agent.start();
    const [first, second] = [await node.pod('first'), await node.pod('second')];
    await ping(first, second.address);
    const { body } = await node.agent.get('/metrics');
    assert.match(String(body), /^vpp_stats_up\{[^}]*\} 1$/m);

    await node.agent.end('SIGKILL');
    await node.agent.start();
    await ping(first, second.address);
    await node.vpp.kill();
    await node.vpp.start();
    await node.agent.whenServing();
    await ping(second, first.address);
  });
});
