/** Completion as each shell carries it out, with the nodes of an API server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutProgram } from '#test/support/requirements.ts';
import { fakeAgent } from '../support/fake-agent.ts';
import { type FakeKubernetes, fakeKubernetes, nodeObject } from '../support/kubernetes.ts';
import { NetctlProgram } from '../support/program.ts';

/** Prints the completions of the words after the script: the last one is at the cursor. */
const shells = {
  bash: (words: readonly string[]) => `
    source <(netctl completion bash)
    COMP_LINE=${quoted(['netctl', ...words].join(' '))}
    COMP_WORDS=(netctl ${words.flatMap(dividedByBash).map(quoted).join(' ')})
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    compopt() { echo files; }
    _netctl
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (words: readonly string[]) => `
    autoload -U compinit && compinit -D
    source <(netctl completion zsh)
    words=(netctl ${words.map(quoted).join(' ')})
    CURRENT=${words.length + 1}
    _describe() { print -l -- "\${(@)\${(P@)2}%%:*}" }
    _files() { print files }
    _netctl`,
  fish: (words: readonly string[]) => `
    mkdir -p ~/.config/fish/completions
    netctl completion fish > ~/.config/fish/completions/netctl.fish
    complete -C ${quoted(['netctl', ...words].join(' '))} | string replace -r '\\t.*' ''`,
};

function dividedByBash(word: string): string[] {
  const parts = word.split(/([=:]+)/).filter((part) => part !== '');
  return parts.length === 0 ? [''] : parts;
}

function quoted(word: string): string {
  return `'${word}'`;
}

for (const shell of ['bash', 'zsh', 'fish'] as const)
  describe(`completion in ${shell}`, { skip: withoutProgram(shell) }, () => {
    const script = shells[shell];
    let kubernetes: FakeKubernetes;
    let program: NetctlProgram;
    before(async () => {
      const nodes = [
        nodeObject('master', '10.0.0.1'),
        nodeObject('worker-1', '10.0.0.2'),
        nodeObject('worker-2', '10.0.0.3'),
        // biome-ignore lint/suspicious/noTemplateCurlyInString: syntax of the shell
        nodeObject('worker-$(touch${IFS}/tmp/harm)', '10.0.0.4'),
      ];
      kubernetes = await fakeKubernetes({ '/api/v1/nodes': nodes });
      program = new NetctlProgram({ KUBECONFIG: kubernetes.kubeconfig });
    });
    after(async () => {
      program[Symbol.dispose]();
      await kubernetes[Symbol.asyncDispose]();
    });

    const completed = async (...words: string[]): Promise<string[]> => {
      const flags = shell === 'zsh' ? ['-f'] : [];
      const { stdout, stderr } = await program.start(shell, [...flags, '-c', script(words)]);
      assert.equal(stderr, '');
      return stdout.split('\n').filter((line) => line !== '');
    };

    it('offers commands', async () => {
      assert.deepEqual((await completed('vpp')).toSorted(), ['vppcli', 'vppdump']);
    });

    it('offers the names of the nodes of the cluster, but none with syntax of the shell', async () => {
      assert.deepEqual(await completed('ipam', 'wor'), ['worker-1', 'worker-2']);
      assert.deepEqual(await completed('ipam', 'worker-1', ''), ['master', 'worker-2']);
    });

    it('offers the values of an option', async () => {
      assert.deepEqual(await completed('nodes', '-o', 'j'), ['json']);
      const word = shell === 'bash' ? 'json' : '--output=json';
      assert.deepEqual(await completed('nodes', '--output=j'), [word]);
    });

    it('offers words after an address with a port', async () => {
      // The stand-in for _describe ends words at a colon.
      if (shell === 'zsh') return;
      assert.deepEqual(await completed('--server', '10.0.0.1:9999', 'vppdump', '10.0.0.1:'), [
        shell === 'bash' ? '9999' : '10.0.0.1:9999',
      ]);
    });

    it('offers the options of a command by both names', async () => {
      const offered = await completed('plan', '-');
      for (const flag of ['-f', '--file', '--as', '-o', '--output'])
        assert.ok(offered.includes(flag), `${flag} of ${offered.join(' ')}`);
      assert.deepEqual(await completed('plan', '-f'), ['-f']);
      assert.deepEqual(await completed('plan', '--fi'), ['--file']);
    });

    it('offers files', async () => {
      if (shell === 'fish') return;
      for (const option of ['-f', '--file'])
        assert.deepEqual(await completed('plan', option, ''), ['files'], option);
    });
  });

describe('completion', () => {
  it('does not ask for a password', async () => {
    await using agent = await fakeAgent({ 'scheduler/dump': { Descriptors: ['vpp-acl'] } });
    using program = new NetctlProgram();
    const words = `--user op --server ${agent.address} vppdump ${agent.address} ''`;
    const args = ['-qec', `netctl __complete ${words}`, '/dev/null'];
    const { stdout } = await program.start('script', args);
    assert.equal(stdout.trim(), 'vpp-acl');
  });
});
