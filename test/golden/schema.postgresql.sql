TABLE account
  id text NOT NULL
  email text NOT NULL
  name text
  locale text NOT NULL
  created_at bigint NOT NULL
  issuer text
  password text
  subject text
  operator boolean NOT NULL DEFAULT false
  CONSTRAINT account_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX account_email_key ON public.account USING btree (email)
  CREATE UNIQUE INDEX account_issuer_subject_key ON public.account USING btree (issuer, subject)
  CREATE UNIQUE INDEX account_pkey ON public.account USING btree (id)
TABLE agent
  id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  task_id text NOT NULL
  nickname text NOT NULL
  about text NOT NULL
  is_default boolean NOT NULL
  created_at bigint NOT NULL
  CONSTRAINT agent_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX agent_one_default ON public.agent USING btree (space_id, account_id) WHERE is_default
  CREATE UNIQUE INDEX agent_pkey ON public.agent USING btree (id)
  CREATE UNIQUE INDEX agent_task_id_key ON public.agent USING btree (task_id)
TABLE agent_profile
  space_id text NOT NULL
  profile text NOT NULL
  title text
  description text
  concurrency integer
  time_limit integer
  updated_at bigint NOT NULL
  fetch_mode text
  fetch_hosts text
  permissions text NOT NULL DEFAULT '[]'::text
  CONSTRAINT agent_profile_pkey PRIMARY KEY (space_id, profile)
  CREATE UNIQUE INDEX agent_profile_pkey ON public.agent_profile USING btree (space_id, profile)
TABLE api_key
  id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  kind text NOT NULL
  name text NOT NULL
  digest text NOT NULL
  created_at bigint NOT NULL
  expires_at bigint
  revoked_at bigint
  used_at bigint
  last_four text
  address_ranges text
  project_ids text
  scopes text
  CONSTRAINT api_key_pkey PRIMARY KEY (id)
  CREATE INDEX api_key_account_id_kind_idx ON public.api_key USING btree (account_id, kind)
  CREATE UNIQUE INDEX api_key_digest_key ON public.api_key USING btree (digest)
  CREATE UNIQUE INDEX api_key_pkey ON public.api_key USING btree (id)
  CREATE INDEX api_key_space_id_created_at_id_idx ON public.api_key USING btree (space_id, created_at, id)
TABLE audit_anchor
  space_id text NOT NULL
  seq integer NOT NULL
  hash text NOT NULL
  removed_at bigint NOT NULL
  CONSTRAINT audit_anchor_pkey PRIMARY KEY (space_id)
  CREATE UNIQUE INDEX audit_anchor_pkey ON public.audit_anchor USING btree (space_id)
TABLE audit_event
  id text NOT NULL
  at bigint NOT NULL
  space_id text NOT NULL
  account_id text NOT NULL
  credential text NOT NULL
  operation text NOT NULL
  request_id text NOT NULL
  address text NOT NULL
  subject text
  before text
  after text
  count integer NOT NULL DEFAULT 1
  hash text
  outcome text NOT NULL DEFAULT 'done'::text
  reason text
  seq integer
  CONSTRAINT audit_event_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX audit_event_chain ON public.audit_event USING btree (space_id, seq) WHERE (seq IS NOT NULL)
  CREATE UNIQUE INDEX audit_event_pkey ON public.audit_event USING btree (id)
  CREATE INDEX audit_event_space_id_at_id_idx ON public.audit_event USING btree (space_id, at, id)
  CREATE INDEX audit_event_unsealed ON public.audit_event USING btree (space_id, at, id) WHERE (seq IS NULL)
TABLE audit_head
  space_id text NOT NULL
  seq integer NOT NULL
  hash text NOT NULL
  CONSTRAINT audit_head_pkey PRIMARY KEY (space_id)
  CREATE UNIQUE INDEX audit_head_pkey ON public.audit_head USING btree (space_id)
TABLE authenticator
  account_id text NOT NULL
  secret bytea NOT NULL
  last_step bigint NOT NULL
  created_at bigint NOT NULL
  CONSTRAINT authenticator_pkey PRIMARY KEY (account_id)
  CREATE UNIQUE INDEX authenticator_pkey ON public.authenticator USING btree (account_id)
TABLE blob
  id text NOT NULL
  account_id text
  state text NOT NULL
  bytes bigint NOT NULL
  lease_until bigint NOT NULL
  refs integer NOT NULL DEFAULT 1
  CONSTRAINT blob_pkey PRIMARY KEY (id)
  CREATE INDEX blob_loose ON public.blob USING btree (lease_until) WHERE (state <> 'kept'::text)
  CREATE UNIQUE INDEX blob_pkey ON public.blob USING btree (id)
TABLE browser
  id text NOT NULL
  space_id text NOT NULL
  account_id text NOT NULL
  node_id text NOT NULL
  name text NOT NULL
  user_agent text NOT NULL
  attached_at bigint NOT NULL
  CONSTRAINT browser_pkey PRIMARY KEY (id)
  CREATE INDEX browser_node_id_idx ON public.browser USING btree (node_id)
  CREATE UNIQUE INDEX browser_pkey ON public.browser USING btree (id)
  CREATE INDEX browser_space_id_account_id_idx ON public.browser USING btree (space_id, account_id)
TABLE budget
  id text NOT NULL
  space_id text NOT NULL
  kind text NOT NULL
  subject text NOT NULL
  period text NOT NULL
  credits bigint NOT NULL
  spent bigint NOT NULL DEFAULT 0
  held bigint NOT NULL DEFAULT 0
  since bigint NOT NULL
  created_at bigint NOT NULL
  updated_at bigint NOT NULL
  CONSTRAINT budget_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX budget_pkey ON public.budget USING btree (id)
  CREATE UNIQUE INDEX budget_space_id_kind_subject_period_key ON public.budget USING btree (space_id, kind, subject, period)
TABLE budget_hold
  id text NOT NULL
  task_id text NOT NULL
  fence integer NOT NULL
  budgets text NOT NULL
  credits integer NOT NULL
  lease_until bigint NOT NULL
  CONSTRAINT budget_hold_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX budget_hold_pkey ON public.budget_hold USING btree (id)
  CREATE INDEX budget_hold_task_id_idx ON public.budget_hold USING btree (task_id)
TABLE checkpoint
  id text NOT NULL
  website_id text NOT NULL
  space_id text NOT NULL
  message text NOT NULL
  status text NOT NULL
  hash text NOT NULL
  created_at bigint NOT NULL
  CONSTRAINT checkpoint_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX checkpoint_pkey ON public.checkpoint USING btree (id)
  CREATE INDEX checkpoint_website_id_created_at_id_idx ON public.checkpoint USING btree (website_id, created_at, id)
TABLE checkpoint_file
  checkpoint_id text NOT NULL
  path text NOT NULL
  blob_id text NOT NULL
  bytes bigint NOT NULL
  sha256 text NOT NULL
  content_type text NOT NULL
  CONSTRAINT checkpoint_file_pkey PRIMARY KEY (checkpoint_id, path)
  CREATE INDEX checkpoint_file_blob_id_idx ON public.checkpoint_file USING btree (blob_id)
  CREATE UNIQUE INDEX checkpoint_file_pkey ON public.checkpoint_file USING btree (checkpoint_id, path)
TABLE connector
  id text NOT NULL
  space_id text NOT NULL
  account_id text
  uid text NOT NULL
  name text NOT NULL
  description text NOT NULL
  category text NOT NULL
  type text NOT NULL
  server text NOT NULL
  credentials bytea
  state text NOT NULL
  is_default boolean NOT NULL
  tools text NOT NULL DEFAULT '[]'::text
  tools_at bigint
  policy text NOT NULL DEFAULT '{}'::text
  created_at bigint NOT NULL
  updated_at bigint NOT NULL
  deleted_at bigint
  CONSTRAINT connector_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX connector_of_space_once ON public.connector USING btree (space_id, uid) WHERE ((deleted_at IS NULL) AND (account_id IS NULL))
  CREATE UNIQUE INDEX connector_once ON public.connector USING btree (space_id, account_id, uid) WHERE ((deleted_at IS NULL) AND (account_id IS NOT NULL))
  CREATE UNIQUE INDEX connector_pkey ON public.connector USING btree (id)
  CREATE INDEX connector_space_id_account_id_created_at_id_idx ON public.connector USING btree (space_id, account_id, created_at, id)
TABLE connector_authorization
  digest text NOT NULL
  connector_id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  sealed bytea NOT NULL
  expires_at bigint NOT NULL
  CONSTRAINT connector_authorization_pkey PRIMARY KEY (digest)
  CREATE INDEX connector_authorization_expires_at_idx ON public.connector_authorization USING btree (expires_at)
  CREATE UNIQUE INDEX connector_authorization_pkey ON public.connector_authorization USING btree (digest)
TABLE delivery
  id text NOT NULL
  webhook_id text NOT NULL
  event_id text NOT NULL
  type text NOT NULL
  task_id text NOT NULL
  seq integer NOT NULL
  state text NOT NULL
  attempts integer NOT NULL
  next_at bigint
  created_at bigint NOT NULL
  settled_at bigint
  CONSTRAINT delivery_pkey PRIMARY KEY (id)
  CREATE INDEX delivery_created_at_idx ON public.delivery USING btree (created_at)
  CREATE INDEX delivery_due ON public.delivery USING btree (webhook_id, next_at) WHERE (state = 'pending'::text)
  CREATE UNIQUE INDEX delivery_pkey ON public.delivery USING btree (id)
  CREATE INDEX delivery_task_id_idx ON public.delivery USING btree (task_id)
  CREATE INDEX delivery_webhook_id_created_at_id_idx ON public.delivery USING btree (webhook_id, created_at, id)
  CREATE UNIQUE INDEX delivery_webhook_id_event_id_key ON public.delivery USING btree (webhook_id, event_id)
TABLE delivery_attempt
  delivery_id text NOT NULL
  number integer NOT NULL
  at bigint NOT NULL
  status integer
  failure text
  latency_ms integer NOT NULL
  response text
  CONSTRAINT delivery_attempt_pkey PRIMARY KEY (delivery_id, number)
  CREATE UNIQUE INDEX delivery_attempt_pkey ON public.delivery_attempt USING btree (delivery_id, number)
TABLE erasure
  kind text NOT NULL
  subject text NOT NULL
  created_at bigint NOT NULL
  completed_at bigint
  CONSTRAINT erasure_pkey PRIMARY KEY (kind, subject)
  CREATE INDEX erasure_open ON public.erasure USING btree (created_at) WHERE (completed_at IS NULL)
  CREATE UNIQUE INDEX erasure_pkey ON public.erasure USING btree (kind, subject)
TABLE event_segment
  task_id text NOT NULL
  first_seq integer NOT NULL
  last_seq integer NOT NULL
  space_id text NOT NULL
  events integer NOT NULL
  bytes integer NOT NULL
  sha256 text NOT NULL
  data_key bytea NOT NULL
  blob_id text NOT NULL
  created_at bigint NOT NULL
  CONSTRAINT event_segment_pkey PRIMARY KEY (task_id, first_seq)
  CREATE UNIQUE INDEX event_segment_pkey ON public.event_segment USING btree (task_id, first_seq)
TABLE export
  id text NOT NULL
  space_id text NOT NULL
  account_id text NOT NULL
  requested_by text NOT NULL
  status text NOT NULL
  scope text NOT NULL
  filter text NOT NULL
  reason text NOT NULL
  done integer NOT NULL DEFAULT 0
  total integer NOT NULL DEFAULT 0
  claims integer NOT NULL DEFAULT 0
  fence integer NOT NULL DEFAULT 0
  lease_until bigint
  blob_id text
  bytes bigint
  sha256 text
  error text
  created_at bigint NOT NULL
  completed_at bigint
  purged_at bigint
  event_count bigint
  kind text NOT NULL DEFAULT 'data'::text
  CONSTRAINT export_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX export_compliance_once ON public.export USING btree (space_id) WHERE ((kind = 'compliance'::text) AND (completed_at IS NULL))
  CREATE INDEX export_kept ON public.export USING btree (completed_at) WHERE ((status = 'completed'::text) AND (purged_at IS NULL))
  CREATE INDEX export_open ON public.export USING btree (created_at) WHERE (completed_at IS NULL)
  CREATE UNIQUE INDEX export_pkey ON public.export USING btree (id)
  CREATE INDEX export_space_id_account_id_created_at_id_idx ON public.export USING btree (space_id, account_id, created_at, id)
TABLE file
  id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  client_id text
  task_id text
  filename text NOT NULL
  content_type text NOT NULL
  status text NOT NULL
  blob_id text
  bytes bigint
  sha256 text
  error text
  created_at bigint NOT NULL
  upload_until bigint NOT NULL
  expires_at bigint
  deleted_at bigint
  api_key_id text
  CONSTRAINT file_pkey PRIMARY KEY (id)
  CREATE INDEX file_awaited ON public.file USING btree (upload_until) WHERE (status = 'pending'::text)
  CREATE INDEX file_deleted ON public.file USING btree (deleted_at) WHERE (deleted_at IS NOT NULL)
  CREATE INDEX file_expiring ON public.file USING btree (expires_at) WHERE ((status = 'uploaded'::text) AND (expires_at IS NOT NULL))
  CREATE INDEX file_of_task ON public.file USING btree (task_id) WHERE (task_id IS NOT NULL)
  CREATE UNIQUE INDEX file_pkey ON public.file USING btree (id)
  CREATE INDEX file_space_id_account_id_created_at_id_idx ON public.file USING btree (space_id, account_id, created_at, id)
  CREATE INDEX file_uploaded ON public.file USING btree (space_id, account_id, created_at, id) WHERE (task_id IS NULL)
TABLE idempotency_record
  account_id text NOT NULL
  space_id text NOT NULL
  client_id text NOT NULL
  operation text NOT NULL
  key text NOT NULL
  hash text NOT NULL
  answer bytea
  subject text
  claimed_at bigint NOT NULL
  CONSTRAINT idempotency_record_pkey PRIMARY KEY (account_id, space_id, client_id, operation, key)
  CREATE INDEX idempotency_record_claimed_at_idx ON public.idempotency_record USING btree (claimed_at)
  CREATE UNIQUE INDEX idempotency_record_pkey ON public.idempotency_record USING btree (account_id, space_id, client_id, operation, key)
  CREATE INDEX idempotency_record_subject_idx ON public.idempotency_record USING btree (subject)
TABLE imported_object
  space_id text NOT NULL
  account_id text NOT NULL
  origin text NOT NULL
  kind text NOT NULL
  source_id text NOT NULL
  local_id text NOT NULL
  complete boolean NOT NULL
  seq integer NOT NULL
  task_id text
  created_at bigint NOT NULL
  CONSTRAINT imported_object_pkey PRIMARY KEY (space_id, account_id, origin, kind, source_id)
  CREATE INDEX imported_object_missing ON public.imported_object USING btree (task_id, seq) WHERE ((task_id IS NOT NULL) AND (NOT complete))
  CREATE UNIQUE INDEX imported_object_pkey ON public.imported_object USING btree (space_id, account_id, origin, kind, source_id)
TABLE job
  kind text NOT NULL
  key text NOT NULL
  run_at bigint NOT NULL
  CONSTRAINT job_pkey PRIMARY KEY (kind, key)
  CREATE INDEX job_kind_run_at_idx ON public.job USING btree (kind, run_at)
  CREATE UNIQUE INDEX job_pkey ON public.job USING btree (kind, key)
TABLE legal_hold
  name text NOT NULL
  kind text NOT NULL
  subject text NOT NULL
  created_at bigint NOT NULL
  CONSTRAINT legal_hold_pkey PRIMARY KEY (name)
  CREATE INDEX legal_hold_kind_subject_idx ON public.legal_hold USING btree (kind, subject)
  CREATE UNIQUE INDEX legal_hold_pkey ON public.legal_hold USING btree (name)
TABLE listener_event
  listener_id text NOT NULL
  position integer NOT NULL
  event_id text NOT NULL
  CONSTRAINT listener_event_pkey PRIMARY KEY (listener_id, "position")
  CREATE UNIQUE INDEX listener_event_pkey ON public.listener_event USING btree (listener_id, "position")
TABLE mailed_link
  digest text NOT NULL
  account_id text NOT NULL
  browser text NOT NULL
  next text NOT NULL
  expires_at bigint NOT NULL
  used_at bigint
  CONSTRAINT mailed_link_pkey PRIMARY KEY (digest)
  CREATE INDEX mailed_link_account_id_idx ON public.mailed_link USING btree (account_id)
  CREATE INDEX mailed_link_expires_at_idx ON public.mailed_link USING btree (expires_at)
  CREATE UNIQUE INDEX mailed_link_pkey ON public.mailed_link USING btree (digest)
TABLE membership
  id text NOT NULL
  team_id text NOT NULL
  space_id text NOT NULL
  account_id text NOT NULL
  email text NOT NULL
  role text NOT NULL
  status text NOT NULL
  created_at bigint NOT NULL
  delegated_at bigint
  delegated_to text
  name text
  original_email text
  removed_at bigint
  signed_in_at bigint
  external_id text
  CONSTRAINT membership_pkey PRIMARY KEY (id)
  CONSTRAINT membership_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON UPDATE RESTRICT ON DELETE RESTRICT
  CONSTRAINT membership_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id) ON UPDATE RESTRICT ON DELETE RESTRICT
  CREATE UNIQUE INDEX membership_address ON public.membership USING btree (space_id, email) WHERE (status <> 'removed'::text)
  CREATE UNIQUE INDEX membership_external_id ON public.membership USING btree (space_id, external_id) WHERE ((status <> 'removed'::text) AND (external_id IS NOT NULL))
  CREATE INDEX membership_held ON public.membership USING btree (delegated_to) WHERE (delegated_to IS NOT NULL)
  CREATE UNIQUE INDEX membership_once ON public.membership USING btree (team_id, account_id) WHERE (status <> 'removed'::text)
  CREATE UNIQUE INDEX membership_one_owner ON public.membership USING btree (team_id) WHERE ((role = 'owner'::text) AND (status <> 'removed'::text))
  CREATE UNIQUE INDEX membership_pkey ON public.membership USING btree (id)
  CREATE INDEX membership_space_id_account_id_idx ON public.membership USING btree (space_id, account_id)
  CREATE INDEX membership_space_id_created_at_id_idx ON public.membership USING btree (space_id, created_at, id)
TABLE model
  name text NOT NULL
  entry text NOT NULL
  secrets bytea
  key_end text
  price text
  profiles text NOT NULL
  updated_at bigint NOT NULL
  CONSTRAINT model_pkey PRIMARY KEY (name)
  CREATE UNIQUE INDEX model_pkey ON public.model USING btree (name)
TABLE node
  id text NOT NULL
  beat integer NOT NULL
  started_at bigint NOT NULL
  address text
  beat_at bigint
  process_id text
  CONSTRAINT node_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX node_pkey ON public.node USING btree (id)
TABLE oauth_app
  client_id text NOT NULL
  space_id text NOT NULL
  creator_id text NOT NULL
  name text NOT NULL
  description text NOT NULL
  redirect_uris text NOT NULL
  homepage_url text NOT NULL
  webhook_url text
  scopes text NOT NULL
  connector_uids text NOT NULL
  skill_ids text NOT NULL
  confidential_only boolean NOT NULL
  loopback_any_port boolean NOT NULL
  generation integer NOT NULL
  created_at bigint NOT NULL
  updated_at bigint NOT NULL
  deleted_at bigint
  verified boolean NOT NULL DEFAULT true
  registration_digest text
  unused_since bigint
  device_authorization boolean NOT NULL DEFAULT false
  service_account_id text
  CONSTRAINT oauth_app_pkey PRIMARY KEY (client_id)
  CREATE UNIQUE INDEX oauth_app_pkey ON public.oauth_app USING btree (client_id)
  CREATE INDEX oauth_app_space_id_created_at_client_id_idx ON public.oauth_app USING btree (space_id, created_at, client_id)
  CREATE INDEX oauth_app_unused_since_idx ON public.oauth_app USING btree (unused_since)
TABLE oauth_app_origin
  client_id text NOT NULL
  origin text NOT NULL
  CONSTRAINT oauth_app_origin_pkey PRIMARY KEY (client_id, origin)
  CREATE INDEX oauth_app_origin_origin_idx ON public.oauth_app_origin USING btree (origin)
  CREATE UNIQUE INDEX oauth_app_origin_pkey ON public.oauth_app_origin USING btree (client_id, origin)
TABLE oauth_code
  digest text NOT NULL
  client_id text NOT NULL
  grant_id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  redirect_uri text NOT NULL
  scopes text NOT NULL
  challenge text
  generation integer NOT NULL
  created_at bigint NOT NULL
  expires_at bigint NOT NULL
  used_at bigint
  family_id text
  resource text
  CONSTRAINT oauth_code_pkey PRIMARY KEY (digest)
  CREATE INDEX oauth_code_expires_at_idx ON public.oauth_code USING btree (expires_at)
  CREATE INDEX oauth_code_grant_id_idx ON public.oauth_code USING btree (grant_id)
  CREATE UNIQUE INDEX oauth_code_pkey ON public.oauth_code USING btree (digest)
TABLE oauth_device
  digest text NOT NULL
  user_digest text NOT NULL
  client_id text NOT NULL
  scopes text NOT NULL
  resource text
  network text NOT NULL
  address text NOT NULL
  created_at bigint NOT NULL
  expires_at bigint NOT NULL
  interval_ms integer NOT NULL
  polled_at bigint
  decided_at bigint
  account_id text
  space_id text
  grant_id text
  generation integer
  used_at bigint
  family_id text
  CONSTRAINT oauth_device_pkey PRIMARY KEY (digest)
  CREATE INDEX oauth_device_client_id_network_idx ON public.oauth_device USING btree (client_id, network)
  CREATE INDEX oauth_device_expires_at_idx ON public.oauth_device USING btree (expires_at)
  CREATE INDEX oauth_device_grant_id_idx ON public.oauth_device USING btree (grant_id)
  CREATE UNIQUE INDEX oauth_device_pkey ON public.oauth_device USING btree (digest)
  CREATE UNIQUE INDEX oauth_device_user_digest_idx ON public.oauth_device USING btree (user_digest)
TABLE oauth_family
  id text NOT NULL
  client_id text NOT NULL
  grant_id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  scopes text NOT NULL
  generation integer NOT NULL
  challenge text
  needs_secret boolean NOT NULL
  access_id text
  access_expires_at bigint NOT NULL
  refresh_digest text NOT NULL
  rotated_digest text
  rotated_at bigint
  rotated_from text
  refresh_expires_at bigint NOT NULL
  created_at bigint NOT NULL
  revoked_at bigint
  resource text
  service boolean NOT NULL DEFAULT false
  CONSTRAINT oauth_family_pkey PRIMARY KEY (id)
  CREATE INDEX oauth_family_grant_id_idx ON public.oauth_family USING btree (grant_id)
  CREATE UNIQUE INDEX oauth_family_pkey ON public.oauth_family USING btree (id)
TABLE oauth_grant
  id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  client_id text NOT NULL
  scopes text NOT NULL
  connector_uids text NOT NULL
  generation integer NOT NULL
  created_at bigint NOT NULL
  updated_at bigint NOT NULL
  revoked_at bigint
  CONSTRAINT oauth_grant_pkey PRIMARY KEY (id)
  CREATE INDEX oauth_grant_client_id_idx ON public.oauth_grant USING btree (client_id)
  CREATE UNIQUE INDEX oauth_grant_living ON public.oauth_grant USING btree (space_id, account_id, client_id) WHERE (revoked_at IS NULL)
  CREATE UNIQUE INDEX oauth_grant_pkey ON public.oauth_grant USING btree (id)
TABLE oauth_secret
  id text NOT NULL
  client_id text NOT NULL
  digest text NOT NULL
  last4 text NOT NULL
  created_at bigint NOT NULL
  revoked_at bigint
  CONSTRAINT oauth_secret_pkey PRIMARY KEY (id)
  CREATE INDEX oauth_secret_client_id_idx ON public.oauth_secret USING btree (client_id)
  CREATE UNIQUE INDEX oauth_secret_pkey ON public.oauth_secret USING btree (id)
TABLE parent_task
  task_id text NOT NULL
  space_id text NOT NULL
  look_at bigint
  stop_turn integer NOT NULL DEFAULT 0
  CONSTRAINT parent_task_pkey PRIMARY KEY (task_id)
  CREATE INDEX parent_task_due ON public.parent_task USING btree (look_at) WHERE (look_at IS NOT NULL)
  CREATE UNIQUE INDEX parent_task_pkey ON public.parent_task USING btree (task_id)
TABLE passkey
  id text NOT NULL
  account_id text NOT NULL
  credential_id text NOT NULL
  public_key text NOT NULL
  user_handle text NOT NULL
  name text NOT NULL
  counter bigint NOT NULL
  created_at bigint NOT NULL
  used_at bigint
  CONSTRAINT passkey_pkey PRIMARY KEY (id)
  CREATE INDEX passkey_account_id_idx ON public.passkey USING btree (account_id)
  CREATE UNIQUE INDEX passkey_credential_id_key ON public.passkey USING btree (credential_id)
  CREATE UNIQUE INDEX passkey_pkey ON public.passkey USING btree (id)
TABLE pending_action
  task_id text NOT NULL
  seq integer NOT NULL
  space_id text NOT NULL
  kind text NOT NULL
  variant text NOT NULL
  action_id text NOT NULL
  state text NOT NULL
  input bytea
  CONSTRAINT pending_action_pkey PRIMARY KEY (task_id, seq)
  CREATE UNIQUE INDEX pending_action_pkey ON public.pending_action USING btree (task_id, seq)
TABLE process_keys
  id text NOT NULL
  keys text NOT NULL
  renewed_at bigint NOT NULL
  host text
  memory_bytes bigint
  pid integer
  role text
  started_at bigint
  version text
  CONSTRAINT process_keys_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX process_keys_pkey ON public.process_keys USING btree (id)
TABLE profile_label
  profile text NOT NULL
  label text NOT NULL
  CONSTRAINT profile_label_pkey PRIMARY KEY (profile, label)
  CREATE UNIQUE INDEX profile_label_pkey ON public.profile_label USING btree (profile, label)
TABLE project
  id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  name text NOT NULL
  instruction text NOT NULL
  created_at bigint NOT NULL
  deleted_at bigint
  permissions text NOT NULL DEFAULT '[]'::text
  CONSTRAINT project_pkey PRIMARY KEY (id)
  CREATE INDEX project_deleted ON public.project USING btree (deleted_at) WHERE (deleted_at IS NOT NULL)
  CREATE UNIQUE INDEX project_pkey ON public.project USING btree (id)
  CREATE INDEX project_space_id_account_id_created_at_id_idx ON public.project USING btree (space_id, account_id, created_at, id)
TABLE project_connector
  project_id text NOT NULL
  uid text NOT NULL
  space_id text NOT NULL
  CONSTRAINT project_connector_pkey PRIMARY KEY (project_id, uid)
  CREATE UNIQUE INDEX project_connector_pkey ON public.project_connector USING btree (project_id, uid)
TABLE push_config
  task_id text NOT NULL
  client_id text NOT NULL
  config_id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  url text NOT NULL
  secrets bytea
  has_events boolean NOT NULL
  state text NOT NULL
  sent_seq integer NOT NULL
  attempts integer NOT NULL DEFAULT 0
  next_at bigint NOT NULL
  claim text
  last_error text
  created_at bigint NOT NULL
  api_key_id text
  CONSTRAINT push_config_pkey PRIMARY KEY (task_id, client_id, config_id)
  CREATE INDEX push_config_due ON public.push_config USING btree (next_at) WHERE (state = 'active'::text)
  CREATE INDEX push_config_of_account ON public.push_config USING btree (account_id, space_id, created_at)
  CREATE UNIQUE INDEX push_config_pkey ON public.push_config USING btree (task_id, client_id, config_id)
UNLOGGED TABLE rate_counter
  key text NOT NULL
  minute integer NOT NULL
  taken integer NOT NULL
  granted integer NOT NULL
  CONSTRAINT rate_counter_pkey PRIMARY KEY (key, minute)
  CREATE INDEX rate_counter_minute_idx ON public.rate_counter USING btree (minute)
  CREATE UNIQUE INDEX rate_counter_pkey ON public.rate_counter USING btree (key, minute)
TABLE recovery_code
  digest text NOT NULL
  account_id text NOT NULL
  created_at bigint NOT NULL
  CONSTRAINT recovery_code_pkey PRIMARY KEY (digest)
  CREATE INDEX recovery_code_account_id_idx ON public.recovery_code USING btree (account_id)
  CREATE UNIQUE INDEX recovery_code_pkey ON public.recovery_code USING btree (digest)
TABLE running_task
  id text NOT NULL
  space_id text NOT NULL
  account_id text NOT NULL
  agent_profile text NOT NULL
  queued_at bigint NOT NULL
  claimed_at bigint NOT NULL
  node_id text
  wants_node text
  turn_until bigint
  CONSTRAINT running_task_pkey PRIMARY KEY (id)
  CREATE INDEX running_task_node ON public.running_task USING btree (node_id) WHERE (node_id IS NOT NULL)
  CREATE UNIQUE INDEX running_task_pkey ON public.running_task USING btree (id)
  CREATE INDEX running_task_profile ON public.running_task USING btree (space_id, agent_profile) WHERE (node_id IS NOT NULL)
  CREATE INDEX running_task_queue ON public.running_task USING btree (account_id, queued_at, id) WHERE (node_id IS NULL)
  CREATE INDEX running_task_run ON public.running_task USING btree (account_id, space_id) WHERE (node_id IS NOT NULL)
  CREATE INDEX running_task_turn ON public.running_task USING btree (turn_until) WHERE (turn_until IS NOT NULL)
TABLE schedule
  id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  client_id text
  api_key_id text
  name text NOT NULL
  cron text
  interval_seconds integer
  moment bigint
  time_zone text NOT NULL
  anchor_at bigint NOT NULL
  template text NOT NULL
  missed text NOT NULL
  overlap text NOT NULL
  status text NOT NULL
  pause_reason text
  next_at bigint
  last_due_at bigint
  queued_at bigint
  last_run_at bigint
  last_task_id text
  failures integer NOT NULL
  last_error text
  created_at bigint NOT NULL
  updated_at bigint NOT NULL
  CONSTRAINT schedule_pkey PRIMARY KEY (id)
  CREATE INDEX schedule_due ON public.schedule USING btree (next_at) WHERE (next_at IS NOT NULL)
  CREATE INDEX schedule_of_app ON public.schedule USING btree (client_id) WHERE (client_id IS NOT NULL)
  CREATE UNIQUE INDEX schedule_pkey ON public.schedule USING btree (id)
  CREATE INDEX schedule_queued ON public.schedule USING btree (queued_at) WHERE (queued_at IS NOT NULL)
  CREATE INDEX schedule_space_id_account_id_created_at_id_idx ON public.schedule USING btree (space_id, account_id, created_at, id)
TABLE session
  id text NOT NULL
  digest text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  created_at bigint NOT NULL
  proved_at bigint NOT NULL
  expires_at bigint NOT NULL
  CONSTRAINT session_pkey PRIMARY KEY (id)
  CREATE INDEX session_account_id_space_id_idx ON public.session USING btree (account_id, space_id)
  CREATE UNIQUE INDEX session_digest_key ON public.session USING btree (digest)
  CREATE INDEX session_expires_at_idx ON public.session USING btree (expires_at)
  CREATE UNIQUE INDEX session_pkey ON public.session USING btree (id)
TABLE setting
  key text NOT NULL
  value text NOT NULL
  CONSTRAINT setting_pkey PRIMARY KEY (key)
  CREATE UNIQUE INDEX setting_pkey ON public.setting USING btree (key)
TABLE sign_in_link
  digest text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  created_at bigint NOT NULL
  expires_at bigint NOT NULL
  used_at bigint
  is_first boolean NOT NULL DEFAULT false
  CONSTRAINT sign_in_link_pkey PRIMARY KEY (digest)
  CREATE INDEX sign_in_link_account_id_idx ON public.sign_in_link USING btree (account_id)
  CREATE INDEX sign_in_link_expires_at_idx ON public.sign_in_link USING btree (expires_at)
  CREATE UNIQUE INDEX sign_in_link_pkey ON public.sign_in_link USING btree (digest)
TABLE signing_key
  id text NOT NULL
  public_key text NOT NULL
  private_key bytea NOT NULL
  created_at bigint NOT NULL
  CONSTRAINT signing_key_pkey PRIMARY KEY (id)
  CREATE INDEX signing_key_created_at_idx ON public.signing_key USING btree (created_at)
  CREATE UNIQUE INDEX signing_key_pkey ON public.signing_key USING btree (id)
TABLE site_domain
  id text NOT NULL
  domain text NOT NULL
  website_id text NOT NULL
  space_id text NOT NULL
  account_id text NOT NULL
  token text NOT NULL
  status text NOT NULL
  created_at bigint NOT NULL
  verified_at bigint
  checked_at bigint
  next_check_at bigint
  failures integer NOT NULL DEFAULT 0
  CONSTRAINT site_domain_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX site_domain_active ON public.site_domain USING btree (domain) WHERE (status = 'active'::text)
  CREATE INDEX site_domain_due ON public.site_domain USING btree (next_check_at) WHERE (next_check_at IS NOT NULL)
  CREATE UNIQUE INDEX site_domain_pkey ON public.site_domain USING btree (id)
  CREATE UNIQUE INDEX site_domain_space_id_domain_key ON public.site_domain USING btree (space_id, domain)
  CREATE INDEX site_domain_website_id_created_at_idx ON public.site_domain USING btree (website_id, created_at)
TABLE site_visit
  digest text NOT NULL
  kind text NOT NULL
  website_id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  expires_at bigint NOT NULL
  CONSTRAINT site_visit_pkey PRIMARY KEY (digest)
  CREATE INDEX site_visit_expires_at_idx ON public.site_visit USING btree (expires_at)
  CREATE UNIQUE INDEX site_visit_pkey ON public.site_visit USING btree (digest)
TABLE skill
  id text NOT NULL
  owner_type text NOT NULL
  space_id text
  account_id text
  project_id text
  client_id text
  name text NOT NULL
  description text NOT NULL
  enabled boolean NOT NULL DEFAULT true
  blob_id text NOT NULL
  bytes bigint NOT NULL
  sha256 text NOT NULL
  created_at bigint NOT NULL
  updated_at bigint NOT NULL
  deleted_at bigint
  CONSTRAINT skill_pkey PRIMARY KEY (id)
  CREATE INDEX skill_owner_type_idx ON public.skill USING btree (owner_type)
  CREATE UNIQUE INDEX skill_pkey ON public.skill USING btree (id)
  CREATE INDEX skill_project_id_idx ON public.skill USING btree (project_id)
  CREATE INDEX skill_space_id_account_id_created_at_id_idx ON public.skill USING btree (space_id, account_id, created_at, id)
TABLE skill_choice
  skill_id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  enabled boolean NOT NULL
  CONSTRAINT skill_choice_pkey PRIMARY KEY (account_id, space_id, skill_id)
  CREATE UNIQUE INDEX skill_choice_pkey ON public.skill_choice USING btree (account_id, space_id, skill_id)
  CREATE INDEX skill_choice_skill_id_idx ON public.skill_choice USING btree (skill_id)
TABLE space
  id text NOT NULL
  kind text NOT NULL
  account_id text
  created_at bigint NOT NULL
  denies_unverified_clients boolean NOT NULL DEFAULT false
  CONSTRAINT space_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX space_account_id_key ON public.space USING btree (account_id)
  CREATE UNIQUE INDEX space_pkey ON public.space USING btree (id)
TABLE spent_ticket
  digest text NOT NULL
  expires_at bigint NOT NULL
  CONSTRAINT spent_ticket_pkey PRIMARY KEY (digest)
  CREATE INDEX spent_ticket_expires_at_idx ON public.spent_ticket USING btree (expires_at)
  CREATE UNIQUE INDEX spent_ticket_pkey ON public.spent_ticket USING btree (digest)
TABLE storage
  account_id text NOT NULL
  bytes bigint NOT NULL
  CONSTRAINT storage_pkey PRIMARY KEY (account_id)
  CREATE UNIQUE INDEX storage_pkey ON public.storage USING btree (account_id)
TABLE subtask_wait
  task_id text NOT NULL
  seq integer NOT NULL
  space_id text NOT NULL
  mode text NOT NULL
  subtasks text NOT NULL
  until bigint
  reason text
  ends text
  CONSTRAINT subtask_wait_pkey PRIMARY KEY (task_id, seq)
  CREATE UNIQUE INDEX subtask_wait_pkey ON public.subtask_wait USING btree (task_id, seq)
TABLE task
  id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  client_id text
  api_key_id text
  project_id text
  type text NOT NULL
  title text NOT NULL
  status text NOT NULL
  share_visibility text NOT NULL
  hidden boolean NOT NULL
  agent_profile text NOT NULL
  locale text NOT NULL
  interactive boolean NOT NULL
  task_references text NOT NULL
  credits integer NOT NULL
  created_at bigint NOT NULL
  updated_at bigint NOT NULL
  last_message_at bigint NOT NULL
  last_seq integer NOT NULL
  last_timestamp bigint NOT NULL
  message_seq integer NOT NULL
  answered_seq integer NOT NULL
  consumed_seq integer NOT NULL
  fence integer NOT NULL
  node_id text
  claims integer NOT NULL
  idle_claims integer NOT NULL
  queued_at bigint NOT NULL
  output_schema text
  deleted_at bigint
  agent_id text
  allowed text NOT NULL DEFAULT '[]'::text
  memo text
  served_at bigint NOT NULL DEFAULT 0
  wants_node text
  max_visibility text
  share_changed_at bigint
  shared_at bigint
  metadata text NOT NULL DEFAULT '{}'::text
  indexed_seq integer NOT NULL DEFAULT '-1'::integer
  latest_status text
  plan_done integer
  plan_total integer
  status_seq integer
  schedule_id text
  turn_until bigint
  depth integer NOT NULL DEFAULT 0
  parent_turn integer NOT NULL DEFAULT 0
  parent_id text
  root_id text
  subtasks integer NOT NULL DEFAULT 0
  imported_from text
  traceparent text
  waiting_since bigint NOT NULL DEFAULT 0
  claimed_at bigint NOT NULL DEFAULT 0
  texts_behind boolean NOT NULL DEFAULT true
  touched_at bigint NOT NULL DEFAULT 0
  turn_request text
  permissions text NOT NULL DEFAULT '[]'::text
  untrusted boolean NOT NULL DEFAULT false
  read_seq integer NOT NULL DEFAULT 0
  CONSTRAINT task_pkey PRIMARY KEY (id)
  CREATE INDEX task_account_id_served_at_idx ON public.task USING btree (account_id, served_at)
  CREATE INDEX task_deleted ON public.task USING btree (deleted_at) WHERE (deleted_at IS NOT NULL)
  CREATE INDEX task_failed ON public.task USING btree (updated_at) WHERE ((status = 'error'::text) AND (deleted_at IS NULL))
  CREATE INDEX task_gone ON public.task USING btree (space_id, account_id, deleted_at, id) WHERE (deleted_at IS NOT NULL)
  CREATE INDEX task_in_project ON public.task USING btree (project_id) WHERE ((project_id IS NOT NULL) AND (deleted_at IS NULL))
  CREATE INDEX task_of_agent ON public.task USING btree (agent_id, created_at, id) WHERE (agent_id IS NOT NULL)
  CREATE INDEX task_of_app ON public.task USING btree (space_id, account_id, client_id, created_at, id) WHERE ((client_id IS NOT NULL) AND (deleted_at IS NULL))
  CREATE INDEX task_of_parent ON public.task USING btree (parent_id, created_at, id, status) WHERE ((parent_id IS NOT NULL) AND (deleted_at IS NULL))
  CREATE INDEX task_of_root ON public.task USING btree (root_id, status, created_at) WHERE ((root_id IS NOT NULL) AND (deleted_at IS NULL))
  CREATE INDEX task_of_schedule ON public.task USING btree (schedule_id, status) WHERE ((schedule_id IS NOT NULL) AND (deleted_at IS NULL))
  CREATE UNIQUE INDEX task_pkey ON public.task USING btree (id)
  CREATE INDEX task_present ON public.task USING btree (space_id, account_id, created_at, id) WHERE (deleted_at IS NULL)
  CREATE INDEX task_project_id_created_at_id_idx ON public.task USING btree (project_id, created_at, id)
  CREATE INDEX task_share_changed ON public.task USING btree (space_id, share_changed_at, id) WHERE (share_changed_at IS NOT NULL)
  CREATE INDEX task_shared ON public.task USING btree (space_id, shared_at, created_at, id) WHERE ((share_visibility <> 'private'::text) OR (shared_at IS NOT NULL))
  CREATE INDEX task_space_id_account_id_created_at_id_idx ON public.task USING btree (space_id, account_id, created_at, id)
  CREATE INDEX task_status ON public.task USING btree (space_id, account_id, status, created_at, id) WHERE (deleted_at IS NULL)
  CREATE INDEX task_team ON public.task USING btree (space_id, created_at, id) WHERE ((deleted_at IS NULL) AND (share_visibility <> 'private'::text) AND ((max_visibility IS NULL) OR (max_visibility <> 'private'::text)))
  CREATE INDEX task_team_gone ON public.task USING btree (space_id, deleted_at, id) WHERE ((deleted_at IS NOT NULL) AND (share_visibility <> 'private'::text) AND ((max_visibility IS NULL) OR (max_visibility <> 'private'::text)))
  CREATE INDEX task_team_updated ON public.task USING btree (space_id, updated_at, id) WHERE ((deleted_at IS NULL) AND (share_visibility <> 'private'::text) AND ((max_visibility IS NULL) OR (max_visibility <> 'private'::text)))
  CREATE INDEX task_texts_behind ON public.task USING btree (space_id, account_id, client_id) WHERE (texts_behind AND (deleted_at IS NULL))
  CREATE INDEX task_updated ON public.task USING btree (space_id, account_id, updated_at, id) WHERE (deleted_at IS NULL)
  CREATE INDEX task_waits ON public.task USING btree (space_id, account_id, waiting_since, id) WHERE ((status = 'waiting'::text) AND (deleted_at IS NULL))
TABLE task_event
  task_id text NOT NULL
  seq integer NOT NULL
  space_id text NOT NULL
  type text NOT NULL
  timestamp bigint NOT NULL
  payload text NOT NULL
  CONSTRAINT task_event_pkey PRIMARY KEY (task_id, seq)
  CREATE UNIQUE INDEX task_event_pkey ON public.task_event USING btree (task_id, seq)
TABLE task_means
  task_id text NOT NULL
  space_id text NOT NULL
  skills text
  forced text NOT NULL DEFAULT '[]'::text
  connectors text NOT NULL DEFAULT '[]'::text
  browser_id text
  tools text
  CONSTRAINT task_means_pkey PRIMARY KEY (task_id)
  CREATE UNIQUE INDEX task_means_pkey ON public.task_means USING btree (task_id)
TABLE task_metadata
  task_id text NOT NULL
  key text NOT NULL
  value text NOT NULL
  space_id text NOT NULL
  account_id text NOT NULL
  CONSTRAINT task_metadata_pkey PRIMARY KEY (task_id, key)
  CREATE UNIQUE INDEX task_metadata_pkey ON public.task_metadata USING btree (task_id, key)
  CREATE INDEX task_metadata_space_id_account_id_key_value_idx ON public.task_metadata USING btree (space_id, account_id, key, value)
TABLE task_text
  task_id text NOT NULL
  seq integer NOT NULL
  space_id text NOT NULL
  account_id text NOT NULL
  words tsvector NOT NULL
  CONSTRAINT task_text_pkey PRIMARY KEY (task_id, seq)
  CREATE UNIQUE INDEX task_text_pkey ON public.task_text USING btree (task_id, seq)
  CREATE INDEX task_text_words_idx ON public.task_text USING gin (words) WITH (fastupdate='on', gin_pending_list_limit='64')
TABLE team
  id text NOT NULL
  space_id text NOT NULL
  name text NOT NULL
  created_at bigint NOT NULL
  CONSTRAINT team_pkey PRIMARY KEY (id)
  CONSTRAINT team_space_id_fkey FOREIGN KEY (space_id) REFERENCES space(id) ON UPDATE RESTRICT ON DELETE RESTRICT
  CREATE UNIQUE INDEX team_name_key ON public.team USING btree (name)
  CREATE UNIQUE INDEX team_pkey ON public.team USING btree (id)
  CREATE UNIQUE INDEX team_space_id_key ON public.team USING btree (space_id)
TABLE team_group
  id text NOT NULL
  space_id text NOT NULL
  display_name text NOT NULL
  name_key text NOT NULL
  external_id text
  role text
  created_at bigint NOT NULL
  updated_at bigint NOT NULL
  CONSTRAINT team_group_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX team_group_external_id ON public.team_group USING btree (space_id, external_id) WHERE (external_id IS NOT NULL)
  CREATE UNIQUE INDEX team_group_pkey ON public.team_group USING btree (id)
  CREATE INDEX team_group_space_id_created_at_id_idx ON public.team_group USING btree (space_id, created_at, id)
  CREATE UNIQUE INDEX team_group_space_id_name_key_key ON public.team_group USING btree (space_id, name_key)
TABLE team_group_member
  group_id text NOT NULL
  member_id text NOT NULL
  CONSTRAINT team_group_member_pkey PRIMARY KEY (group_id, member_id)
  CREATE INDEX team_group_member_member_id_idx ON public.team_group_member USING btree (member_id)
  CREATE UNIQUE INDEX team_group_member_pkey ON public.team_group_member USING btree (group_id, member_id)
TABLE transcript
  task_id text NOT NULL
  position integer NOT NULL
  space_id text NOT NULL
  turn integer NOT NULL
  seq integer NOT NULL
  role text NOT NULL
  parts text NOT NULL
  blob_id text
  model text
  input_tokens integer
  cached_tokens integer
  output_tokens integer
  active_ms integer NOT NULL
  credits integer NOT NULL
  created_at bigint NOT NULL
  CONSTRAINT transcript_pkey PRIMARY KEY (task_id, "position")
  CREATE UNIQUE INDEX transcript_pkey ON public.transcript USING btree (task_id, "position")
TABLE usage_day
  space_id text NOT NULL
  account_id text NOT NULL
  day integer NOT NULL
  credits bigint NOT NULL
  CONSTRAINT usage_day_pkey PRIMARY KEY (space_id, account_id, day)
  CREATE UNIQUE INDEX usage_day_pkey ON public.usage_day USING btree (space_id, account_id, day)
  CREATE INDEX usage_day_space_id_day_idx ON public.usage_day USING btree (space_id, day)
TABLE usage_entry
  id text NOT NULL
  space_id text NOT NULL
  account_id text NOT NULL
  task_id text
  client_id text
  project_id text
  profile text NOT NULL
  kind text NOT NULL
  credits integer NOT NULL
  input_tokens integer NOT NULL DEFAULT 0
  output_tokens integer NOT NULL DEFAULT 0
  tool_calls integer NOT NULL DEFAULT 0
  at bigint NOT NULL
  api_key_id text
  cache_write_tokens integer NOT NULL DEFAULT 0
  cached_input_tokens integer NOT NULL DEFAULT 0
  CONSTRAINT usage_entry_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX usage_entry_pkey ON public.usage_entry USING btree (id)
  CREATE INDEX usage_entry_space_id_account_id_at_id_idx ON public.usage_entry USING btree (space_id, account_id, at, id)
  CREATE INDEX usage_entry_space_id_at_id_idx ON public.usage_entry USING btree (space_id, at, id)
  CREATE INDEX usage_entry_task_id_idx ON public.usage_entry USING btree (task_id)
TABLE usage_record
  id text NOT NULL
  space_id text NOT NULL
  account_id text NOT NULL
  task_id text
  kind text NOT NULL
  credits bigint NOT NULL
  ahead integer NOT NULL DEFAULT 0
  updated_at bigint NOT NULL
  CONSTRAINT usage_record_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX usage_record_pkey ON public.usage_record USING btree (id)
  CREATE INDEX usage_record_space_id_account_id_updated_at_id_idx ON public.usage_record USING btree (space_id, account_id, updated_at, id)
TABLE webhook
  id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  client_id text
  url text NOT NULL
  status text NOT NULL
  inactive_reason text
  event_types text NOT NULL
  double_hash boolean NOT NULL
  secret bytea NOT NULL
  old_secret bytea
  old_secret_until bigint
  created_at bigint NOT NULL
  failing_since bigint
  failures integer NOT NULL DEFAULT 0
  deleted_at bigint
  metadata text NOT NULL DEFAULT '{}'::text
  project_id text
  name text
  CONSTRAINT webhook_pkey PRIMARY KEY (id)
  CREATE INDEX webhook_deleted ON public.webhook USING btree (deleted_at) WHERE (deleted_at IS NOT NULL)
  CREATE UNIQUE INDEX webhook_of_app ON public.webhook USING btree (client_id) WHERE ((client_id IS NOT NULL) AND (deleted_at IS NULL))
  CREATE INDEX webhook_of_space ON public.webhook USING btree (space_id, created_at, id) WHERE ((client_id IS NULL) AND (deleted_at IS NULL))
  CREATE UNIQUE INDEX webhook_once ON public.webhook USING btree (space_id, account_id, url) WHERE ((client_id IS NULL) AND (deleted_at IS NULL))
  CREATE UNIQUE INDEX webhook_pkey ON public.webhook USING btree (id)
TABLE webhook_event
  id text NOT NULL
  type text NOT NULL
  task_id text NOT NULL
  seq integer NOT NULL
  space_id text NOT NULL
  body text NOT NULL
  created_at bigint NOT NULL
  CONSTRAINT webhook_event_pkey PRIMARY KEY (id)
  CREATE INDEX webhook_event_created_at_idx ON public.webhook_event USING btree (created_at)
  CREATE UNIQUE INDEX webhook_event_pkey ON public.webhook_event USING btree (id)
  CREATE INDEX webhook_event_task_id_idx ON public.webhook_event USING btree (task_id)
TABLE webhook_key
  id text NOT NULL
  algorithm text NOT NULL
  public_key text NOT NULL
  private_key bytea NOT NULL
  created_at bigint NOT NULL
  number integer NOT NULL DEFAULT 1
  retires_at bigint
  signs_from bigint NOT NULL DEFAULT 0
  CONSTRAINT webhook_key_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX webhook_key_algorithm_number_key ON public.webhook_key USING btree (algorithm, number)
  CREATE UNIQUE INDEX webhook_key_pkey ON public.webhook_key USING btree (id)
TABLE webhook_listener
  id text NOT NULL
  account_id text NOT NULL
  space_id text NOT NULL
  event_types text NOT NULL
  project_id text
  secret bytea NOT NULL
  expires_at bigint NOT NULL
  renewed_at bigint NOT NULL
  accepted integer NOT NULL DEFAULT 0
  waiting integer NOT NULL DEFAULT 0
  dropped integer NOT NULL DEFAULT 0
  CONSTRAINT webhook_listener_pkey PRIMARY KEY (id)
  CREATE INDEX webhook_listener_account_id_space_id_idx ON public.webhook_listener USING btree (account_id, space_id)
  CREATE UNIQUE INDEX webhook_listener_pkey ON public.webhook_listener USING btree (id)
TABLE website
  id text NOT NULL
  space_id text NOT NULL
  account_id text NOT NULL
  task_id text NOT NULL
  label text NOT NULL
  title text NOT NULL
  visibility text NOT NULL
  max_visibility text
  status text NOT NULL
  status_at bigint
  live_id text
  publishing_id text
  publishing_as text
  created_at bigint NOT NULL
  updated_at bigint NOT NULL
  deleted_at bigint
  shared_at bigint
  team_max text
  CONSTRAINT website_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX website_label_key ON public.website USING btree (label)
  CREATE UNIQUE INDEX website_pkey ON public.website USING btree (id)
  CREATE INDEX website_shared ON public.website USING btree (space_id, shared_at, created_at, id) WHERE ((live_id IS NOT NULL) OR (shared_at IS NOT NULL))
  CREATE INDEX website_space_id_account_id_created_at_id_idx ON public.website USING btree (space_id, account_id, created_at, id)
  CREATE INDEX website_task_id_idx ON public.website USING btree (task_id)
TABLE website_viewer
  website_id text NOT NULL
  email text NOT NULL
  created_at bigint NOT NULL
  CONSTRAINT website_viewer_pkey PRIMARY KEY (website_id, email)
  CREATE UNIQUE INDEX website_viewer_pkey ON public.website_viewer USING btree (website_id, email)
TABLE worker
  id text NOT NULL
  space_id text NOT NULL
  name text NOT NULL
  digest text NOT NULL
  profiles text NOT NULL
  created_by text NOT NULL
  created_at bigint NOT NULL
  seen_at bigint
  revoked_at bigint
  labels text NOT NULL DEFAULT '[]'::text
  CONSTRAINT worker_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX worker_digest_key ON public.worker USING btree (digest)
  CREATE UNIQUE INDEX worker_pkey ON public.worker USING btree (id)
  CREATE INDEX worker_space_id_created_at_id_idx ON public.worker USING btree (space_id, created_at, id)
TABLE worker_event
  task_id text NOT NULL
  turn integer NOT NULL
  key text NOT NULL
  seq integer NOT NULL
  digest text NOT NULL
  CONSTRAINT worker_event_pkey PRIMARY KEY (task_id, turn, key)
  CREATE UNIQUE INDEX worker_event_pkey ON public.worker_event USING btree (task_id, turn, key)
TABLE worker_failure
  id text NOT NULL
  worker_id text NOT NULL
  task_id text NOT NULL
  kind text NOT NULL
  at bigint NOT NULL
  CONSTRAINT worker_failure_pkey PRIMARY KEY (id)
  CREATE INDEX worker_failure_at_idx ON public.worker_failure USING btree (at)
  CREATE UNIQUE INDEX worker_failure_pkey ON public.worker_failure USING btree (id)
  CREATE INDEX worker_failure_worker_id_at_id_idx ON public.worker_failure USING btree (worker_id, at, id)
TABLE worker_run
  task_id text NOT NULL
  space_id text NOT NULL
  worker_id text NOT NULL
  fence integer NOT NULL
  started_at bigint NOT NULL
  lease_until bigint NOT NULL
  CONSTRAINT worker_run_pkey PRIMARY KEY (task_id)
  CREATE INDEX worker_run_lease_until_idx ON public.worker_run USING btree (lease_until)
  CREATE UNIQUE INDEX worker_run_pkey ON public.worker_run USING btree (task_id)
  CREATE INDEX worker_run_worker_id_idx ON public.worker_run USING btree (worker_id)
TABLE workspace_file
  task_id text NOT NULL
  path text NOT NULL
  space_id text NOT NULL
  blob_id text NOT NULL
  bytes bigint NOT NULL
  sha256 text NOT NULL
  updated_at bigint NOT NULL
  CONSTRAINT workspace_file_pkey PRIMARY KEY (task_id, path)
  CREATE UNIQUE INDEX workspace_file_pkey ON public.workspace_file USING btree (task_id, path)
