import { POST_CLAIM_SCOPES, PRE_CLAIM_SCOPES } from '../../access/powers.ts'

/** For agents: how to come from nothing to a pushed branch, and how a person takes them on. Every line can be run. */
export function authMd(base: string, api: string): string {
  return `# auth.md

This is Trellis, a git host, at ${base}. An agent can register here by itself, work at once in a small organization of
its own, and be claimed by a person, who then owns what it made.

## Step 1: Discover

Every call without a credential is answered 401, by the API and by git, with

\`WWW-Authenticate: Bearer resource_metadata="${base}/.well-known/oauth-protected-resource"\`

and so is one whose credential is not good, then with \`error="invalid_token"\` and the reason. That document names the
authorization server; its metadata, with the endpoints below, is at ${base}/.well-known/oauth-authorization-server.

## Step 2: Pick a method

- \`anonymous\`: work now, be claimed later or never. Scopes before the claim: ${PRE_CLAIM_SCOPES.join(', ')}.
  Unclaimed, everything ends after 24 hours.
- \`service_auth\`: you know the email address of the person's account. No scopes until they have claimed you.

## Step 3: Register

### anonymous

\`\`\`sh
curl -s ${base}/agent/identity -H 'content-type: application/json' \\
  -d '{"type":"anonymous","agent_name":"release helper"}'
\`\`\`

\`agent_name\` may be left out. It has up to 64 characters, and is shown to people beside your id, as your own words.
Keep \`claim_token\` and \`identity_assertion\` from the answer; both are secrets. Go on with step 5.

### service_auth

\`\`\`sh
curl -s ${base}/agent/identity -H 'content-type: application/json' \\
  -d '{"type":"service_auth","login_hint":"ana@example.com","agent_name":"release helper"}'
\`\`\`

The answer has \`claim\` with the link and code of step 4 already.

## Step 4: Claim ceremony

To be claimed, name the person's account (an anonymous agent has not yet; for service_auth this mints a new code):

\`\`\`sh
curl -s ${base}/agent/identity/claim -H 'content-type: application/json' \\
  -d "{\\"claim_token\\":\\"$CLAIM_TOKEN\\",\\"login_hint\\":\\"ana@example.com\\"}"
\`\`\`

Show the person \`verification_uri\` and \`user_code\` together. They open the link, sign in with that account, and type
the code into our page. They never tell the code to you, and you never put it into a link. Link and code last ten
minutes; a new attempt ends the one before.

Meanwhile poll, not more often than every \`interval\` seconds:

\`\`\`sh
curl -s ${base}/oauth2/token -d grant_type=urn:workos:agent-auth:grant-type:claim -d claim_token=$CLAIM_TOKEN
\`\`\`

\`authorization_pending\` means go on; \`slow_down\` means wait five seconds longer from now on. The first success gives
\`access_token\`, \`refresh_token\` and a new \`identity_assertion\`, and uses the claim token up. Scopes after the claim:
${POST_CLAIM_SCOPES.join(', ')}. Tokens from before the claim are void. Go on with step 7 when the
\`access_token\` ends.

## Step 5: Exchange the assertion

\`\`\`sh
curl -s ${base}/oauth2/token -d grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer -d assertion=$IDENTITY_ASSERTION
\`\`\`

gives an \`access_token\` for an hour. Repeat it while the assertion lasts, which is also an hour. When it has ended, an
unclaimed agent can still be claimed (step 4), or registers again; a claimed one has its refresh token.

## Step 6: Use the access_token

\`\`\`sh
curl -s ${api}/repos/create -H "authorization: Bearer $ACCESS_TOKEN" \\
  -H 'content-type: application/json' -d '{"name":"hello"}'
\`\`\`

The answer's \`remote\` is where to push, with the token as the password of any user name:

\`\`\`sh
git -c http.extraHeader="Authorization: Bearer $ACCESS_TOKEN" push REMOTE HEAD:main
\`\`\`

All operations: ${base}/openapi.json. Limits: ${base}/limits.

## Step 7: Go on for as long as you are wanted

Once claimed you last until your person revokes you. Before or after the hour of an \`access_token\` is over:

\`\`\`sh
curl -s ${base}/oauth2/token -d grant_type=refresh_token -d refresh_token=$REFRESH_TOKEN
\`\`\`

gives a new \`access_token\` and a new \`refresh_token\`. Write both down before you use either, and let one process do this,
one at a time: a refresh token is good once. One that was used and comes again is in two hands, and ends you, with every
credential you have made. If the answer never came, wait ten seconds and send the same token again: as long as nothing
of that answer has been used, you get another, and what was in the lost one is void: should it come late, throw it away.
Sent again sooner the token ends you, so have nothing repeat this request by itself. A claim token (step 4) may be sent
again after ten seconds as well; sooner it is only refused. A refresh token that is not used for 90 days ends you too.

What you do stays yours in the log, under your id, and repository tokens and invites you make end with you at the latest.

## Errors

| code | where | what to do |
| --- | --- | --- |
| \`invalid_request\` | everywhere | read the message, mend the request |
| \`invalid_login_hint\` | register, claim | give the email address of the person's account; it cannot be changed later |
| \`anonymous_not_enabled\`, \`service_auth_not_enabled\` | register | this server takes no agents |
| \`rate_limited\` | everywhere | wait |
| \`invalid_claim_token\` | claim | register again |
| \`claimed_or_in_flight\` | claim | you are claimed: poll the token endpoint |
| \`claim_expired\` | claim | register again |
| \`authorization_pending\`, \`slow_down\` | token | poll again, later |
| \`expired_token\` | token | the code has ended: start a new claim; if that answers \`claim_expired\`, register again |
| \`invalid_grant\` | token | the assertion, claim token or refresh token is used up or void: use the newest you have, or register again |

A 401 of the API or of git says in its message, and in \`WWW-Authenticate\`, which of these it is:

| 401 | \`WWW-Authenticate\` | what to do |
| --- | --- | --- |
| missing: \`Sign in required\`, by git \`Sign in\` | without \`error\` | send \`Authorization: Bearer $ACCESS_TOKEN\`; without one, register |
| expired: \`This access token has expired\` | \`error="invalid_token"\` | step 7 if you are claimed, step 5 if not |
| revoked: \`This access token has been revoked\` | \`error="invalid_token"\` | you were claimed, so poll (step 4); or your person has ended you: step 7 answers \`invalid_grant\`, ask them |
| invalid: \`This credential is not valid here\` | \`error="invalid_token"\` | it is no access token of this server, or ended long ago: step 7 or 5, else register |

## Revocation

\`\`\`sh
curl -s ${base}/oauth2/revoke -d token=$ACCESS_TOKEN
\`\`\`

ends one token. A refresh token given back in the same way ends you: nothing you have is good any more. The person who
claimed you can end you at any time; then everything answers 401 or \`invalid_grant\`. What you pushed stays theirs.
`
}

/** What there is to read here, for language models. */
export function llmsTxt(base: string, api: string): string {
  return `# Trellis

> A git host that can be programmed. Operations are POST requests with a JSON body below ${api}; git is at ${base}/git/{org}/{repo}.git.

- [How an agent gets access](${base}/auth.md)
- [All operations, OpenAPI 3.1](${base}/openapi.json)
- [All operations, to read](${base}/reference)
- [Limits in force](${base}/limits)
`
}
