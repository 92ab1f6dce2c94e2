-- The client of the command line (spec/oauth.md 14). An empty space: it belongs to no team.
INSERT INTO "oauth_app" (
    "client_id", "space_id", "creator_id", "name", "description", "redirect_uris", "homepage_url", "webhook_url",
    "scopes", "connector_uids", "skill_ids", "confidential_only", "loopback_any_port", "generation", "created_at", "updated_at", "deleted_at"
) VALUES (
    'atp-cli', '', '', 'Command line', 'The program atp on your computer.',
    '["http://127.0.0.1/callback","http://[::1]/callback"]', '', NULL,
    '["create_task","manage_all_tasks","create_project","use_my_browsers"]', '[]', '[]', false, true, 1, 1795564800000, 1795564800000, NULL
);
