import { POST_CLAIM_SCOPES, PRE_CLAIM_SCOPES } from '../../access/powers.ts'

/** For agents: how to come from nothing to a pushed branch, and how a person takes them on. Every line can be run. */
export function authMd(base: string, api: string): string {
  return `# auth.md

This is Trellis, a git host, at ${base}. An agent can register here by itself, work at once in a small organization of
its own, and be claimed by a person, who then owns what it made.

## Step 1: Discover

Every call without a credential is answered 401 with

\`WWW-Authenticate: Bearer resource_metadata="${base}/.well-known/oauth-protected-resource"\`

That document names the authorization server; its metadata, with the endpoints below, is at
${base}/.well-known/oauth-authorization-server.

## Step 2: Pick a method

- \`anonymous\`: work now, be claimed later or never. Scopes before the claim: ${PRE_CLAIM_SCOPES.join(', ')}.
  Unclaimed, everything ends after 24 hours.
- \`service_auth\`: you know the email address of the person's account. No scopes until they have claimed you.

## Step 3: Register

### anonymous

\`\`\`sh
curl -s ${base}/agent/identity -H 'content-type: application/json' -d '{"type":"anonymous"}'
\`\`\`

Keep \`claim_token\` and \`identity_assertion\` from the answer; both are secrets. Go on with step 5.

### service_auth

\`\`\`sh
curl -s ${base}/agent/identity -H 'content-type: application/json' \\
  -d '{"type":"service_auth","login_hint":"ana@example.com"}'
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
\`access_token\` and a new \`identity_assertion\` and uses the claim token up. Scopes after the claim:
${POST_CLAIM_SCOPES.join(', ')}. Tokens from before the claim are void.

## Step 5: Exchange the assertion

\`\`\`sh
curl -s ${base}/oauth2/token -d grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer -d assertion=$IDENTITY_ASSERTION
\`\`\`

gives an \`access_token\` for an hour. Repeat it while the assertion lasts, which is also an hour; there is no refresh
token. When the assertion has ended, an unclaimed agent can still be claimed (step 4), or registers again. A claimed one
registers again; what it made stays with its person, who can give it an API key of that organization for longer work.

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
| \`invalid_grant\` | token | the assertion or claim token is used up or void: exchange the newest assertion, or register again |
| 401 from the API | everywhere else | the token has ended: exchange the assertion again |

## Revocation

\`\`\`sh
curl -s ${base}/oauth2/revoke -d token=$ACCESS_TOKEN
\`\`\`

ends one token. The person who claimed you can end the registration at any time; then everything answers 401 or
\`invalid_grant\`.
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
