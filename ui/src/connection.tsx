/** State of the connection to the agent: a word in the header, and what a user has to know below it. */
import { pageTime } from './agent/agent-time.ts';
import { agentRun, type StreamProblem, streamProblem, streamState } from './agent/event-stream.ts';
import { timeOfDay } from './components/times.ts';

const streamTexts = {
  connecting: 'connecting…',
  connected: 'live',
  lost: 'connection lost',
} as const;

export function StreamIndicator() {
  const isReached = (streamProblem.value?.status ?? 0) !== 0;
  return (
    <span class={`stream ${streamState.value}`} role="status">
      {isReached ? 'not live' : streamTexts[streamState.value]}
    </span>
  );
}

/** It stays for this time after a restart of the agent. */
const RESTART_MS = 60_000;

/** Not of the clock: the notice would stay after one that is set back. */
let restartedAt = 0;
agentRun.subscribe((run) => {
  if (run > 0) restartedAt = performance.now();
});

export function ConnectionNotice() {
  const problem = streamProblem.value;
  const isNewRun = agentRun.value > 0 && pageTime() - restartedAt < RESTART_MS;
  return (
    <div role="status">
      {problem && (
        <p class="connection problem">
          <ProblemText problem={problem} />
        </p>
      )}
      {isNewRun && !problem && (
        <p class="connection restarted">
          The agent was restarted: the numbers of events and transactions begin again. A number that
          was open here is now another one, or does not exist yet.
        </p>
      )}
    </div>
  );
}

function ProblemText({
  problem: { status, text, hasPassword, since },
}: {
  problem: StreamProblem;
}) {
  if (status === 0)
    return (
      <>
        No connection to the agent since {timeOfDay(new Date(since).toISOString())} UTC: what is
        shown may be older than that.
      </>
    );
  if (status === 401 && hasPassword)
    return (
      <>
        You are not logged in.{' '}
        <button type="button" onClick={() => location.reload()}>
          Enter user and password
        </button>
      </>
    );
  if (status === 401)
    return (
      <>
        You are not logged in.{' '}
        <a href="../auth/login" target="_blank" rel="noreferrer">
          Log in
        </a>{' '}
        in a new tab, then come back.
      </>
    );
  if (status === 403) return <>Your user does not have the permission group “read”.</>;
  return <>Events do not arrive live: {text === '' ? `status ${status}` : text}</>;
}
