const MAX_TEXT = 300;

/**
 * The status of a reply to a request that failed, and why.
 * @param body of the reply: `{"Error": "…"}` of an agent, or anything
 */
export function statusText(status: number, body: string): string {
  const why = explanation(body);
  return why === '' ? `status ${status}` : `status ${status}: ${why}`;
}

function explanation(body: string): string {
  try {
    const { Error: text } = JSON.parse(body) as { Error?: unknown };
    if (typeof text === 'string') return text.slice(0, MAX_TEXT);
  } catch {
    // A proxy answered.
  }
  return body.startsWith('<') ? '' : body.replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
}
