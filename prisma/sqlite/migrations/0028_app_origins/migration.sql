-- CreateTable
CREATE TABLE "oauth_app_origin" (
    "client_id" TEXT NOT NULL,
    "origin" TEXT NOT NULL,

    PRIMARY KEY ("client_id", "origin")
);

-- CreateIndex
CREATE INDEX "oauth_app_origin_origin_idx" ON "oauth_app_origin"("origin");
