import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { generatedStartup, pciNicOf } from '#init/generated-startup.ts';
import { startupSettings } from '#init/startup-settings.ts';
import { hasCnatSettings } from '#init/vpp-program.ts';

describe('a generated startup configuration', () => {
  it('has the sockets in its folder, and lets VPP take no NIC that nothing names', () => {
    const text = generatedStartup({ folder: '/run/vpp', devices: [], hasCnat: true });
    assert.equal(startupSettings(text, 'startup.conf').apiSocket, '/run/vpp/api.sock');
    assert.match(text, /dpdk_plugin\.so \{ disable \}/);
  });

  it('lists the NICs of DPDK', () => {
    const devices = [{ address: '0000:0b:00.0' }, { address: '0000:00:08.0', name: 'x' }];
    const text = generatedStartup({ folder: '/run/vpp', devices, hasCnat: false });
    assert.doesNotMatch(text, /cnat/);
    assert.doesNotThrow(() => startupSettings(text, 'startup.conf'));
    assert.match(
      text,
      /dpdk \{\n {2}uio-driver vfio-pci\n {2}dev 0000:0b:00\.0\n {2}dev 0000:00:08\.0 \{ name x \}\n\}/,
    );
  });

  it('limits the sessions of cnat where VPP knows the settings', () => {
    const text = generatedStartup({ folder: '/run/vpp', devices: [], hasCnat: true });
    assert.match(text, /^cnat \{ session-max 262144 /m);
    assert.doesNotThrow(() => startupSettings(text, 'startup.conf'));
    for (const [version, has] of [
      ['vpp v26.06-release built by root', true],
      ['vpp v26.10-rc0~1-gabc built by root', true],
      ['vpp v25.10-release built by root', false],
      ['', false],
    ] as const) {
      const plugins = ['acl_plugin.so', 'cnat_plugin.so'];
      assert.equal(hasCnatSettings({ version, plugins }), has, version);
      assert.ok(!hasCnatSettings({ version, plugins: plugins.slice(0, 1) }), version);
    }
  });

  it('names sections only of plugins that the image of VPP keeps', () => {
    const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
    const text = generatedStartup({ folder: '/run/vpp', devices: [], hasCnat: true });
    const plugins = ['cnat', 'dpdk'].filter((name) => text.includes(name));
    assert.deepEqual(plugins, ['cnat', 'dpdk']);
    for (const name of plugins) assert.ok(dockerfile.includes(` ! -name ${name}_plugin.so`), name);
  });

  it('finds the PCI device of an interface by its name in VPP', () => {
    assert.deepEqual(pciNicOf('GigabitEthernet0/8/0'), { address: '0000:00:08.0' });
    assert.deepEqual(pciNicOf('HundredGigabitEthernet3b/0/1'), { address: '0000:3b:00.1' });
    const name = 'vmxnet3-0/b/0/0';
    assert.deepEqual(pciNicOf(name), { address: '0000:0b:00.0', name });
    for (const other of ['', 'host-eth1', 'tap0', 'loop0', 'GigabitEthernet0/8', 'vmxnet3-0'])
      assert.equal(pciNicOf(other), undefined, other);
  });
});
