/** `netctl completion`: the script with which a shell completes words of netctl. */
import { type Command, ExitCode } from '../command.ts';
import { completionScripts } from '../completion/scripts.ts';

const shells = Object.keys(completionScripts);

export const completion: Command = {
  name: 'completion',
  summary: 'Print the script for word completion in a shell',
  arguments: [{ name: 'shell', description: shells.join(', '), completes: shells }],
  options: [],
  examples: [
    'completion bash > /etc/bash_completion.d/netctl',
    'completion zsh',
    'completion fish',
  ],
  async run(context, { arguments: { shell: [shell = ''] = [] } }) {
    const script = completionScripts[shell];
    if (script === undefined) {
      context.warn(`netctl: unknown shell ${shell}; known: ${shells.join(', ')}`);
      return ExitCode.Failure;
    }
    context.output.text(script);
    return ExitCode.Success;
  },
};
