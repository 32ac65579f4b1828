import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StartupConfigError } from '#init/errors.ts';
import { startupSettings } from '#init/startup-settings.ts';

const socketOf = (text: string): string => startupSettings(text, 'startup.conf').apiSocket;

describe('the settings of a startup configuration', () => {
  it('have the API socket in the runtime folder unless socksvr names another', () => {
    assert.equal(socketOf('unix { nodaemon }'), '/run/vpp/api.sock');
    assert.equal(socketOf('unix {nosyslog runtime-dir /tmp/x}'), '/tmp/x/api.sock');
    assert.equal(socketOf('unix { nodaemon }\nsocksvr { default }'), '/run/vpp/api.sock');
    assert.equal(
      socketOf(
        'unix { interactive\n # socksvr }\n}\nsocksvr\n{\n  socket-name /tmp/a.sock # x\n}\ndpdk { dev 0000:00:08.0 { name eth } }',
      ),
      '/tmp/a.sock',
    );
  });

  it('are rejected when VPP would detach, or when braces are not balanced', () => {
    const rejected = (text: string, message: RegExp) =>
      assert.throws(
        () => socketOf(text),
        (error) => error instanceof StartupConfigError && message.test(error.message),
      );
    rejected('unix { cli-listen /run/vpp/cli.sock } api { nodaemon }', /startup\.conf: unix/);
    rejected('', /nodaemon/);
    rejected('unix { nodaemon ', /not closed/);
    rejected('unix { nodaemon } }', /closed twice/);
  });
});
