"""The terms of rules/vocabulary: concepts, technologies and stop words, as data.

Terms are separated by commas. "stem*" stands for every word that begins so; "A=b" gives a
technology's canonical spelling and its other names.
"""

CONCEPTS: dict[str, str] = {
    # presentation
    "widget": """
        button*, icon*, avatar, badge, card, checkbox, radio, slider, spinner, loader,
        skeleton, carousel, accordion, chip, stepper, progress bar, toggle, switch control,
        input field, text field, textfield, textarea, label, placeholder, date picker,
        datepicker, color picker, schaltfläche*, knopf, botón, botones, bouton*, 按钮,
        ボタン, 버튼
    """,
    "overlay": """
        modal*, dialog*, popover*, popup*, pop up, tooltip*, toast*, snackbar*, drawer,
        overlay*, lightbox, bottom sheet, sheet, ダイアログ, 弹窗, 다이얼로그, 모달
    """,
    "navigation": """
        navbar*, nav bar, sidebar*, side bar, menu*, breadcrumb*, tab bar, tabs, dropdown*,
        drop down, hamburger, header, footer, topbar, top bar, toolbar*, navigation,
        navdrawer, menü, menú, barra lateral, 侧边栏, 菜单, サイドバー, メニュー, 사이드바,
        메뉴
    """,
    "interface": """
        selected, theme toggle, giao diện, tela, telas, trang, ui, ux, gui, user interface,
        frontend, front end, front, web app, webapp, client side, component, view model,
        web page, page, screen, window, dashboard page, form, layout*, view, oberfläche*,
        interfaz, página, pantalla, formulario, écran, formulaire, page web,
        interface utilisateur, 界面, 页面, 前端, 画面, 화면, 프론트엔드
    """,
    "style": """
        css, style, styles, styling, styled, stylesheet*, theme*, theming, dark mode,
        darkmode, light mode, color*, colour*, font, fonts, typography, margin, padding,
        align*, z index, flexbox, grid, spacing, border*, shadow, animation*, opacity,
        ダークモード, 样式, 深色, 다크모드
    """,
    "responsive": """
        responsive, breakpoint*, viewport, mobile, small screen, narrow*, landscape,
        portrait, tablet*, phone, phones, screen size, media query, overflow*, overlap*,
        móvil, 手机, 모바일, スマホ
    """,
    "accessibility": """
        announce*, assistive, skip link, accessib*, a11y, aria, wcag, screen reader,
        screenreader*, voiceover, talkback, keyboard, focus, focusable, tab order, alt text,
        contrast, tabbing, barrierefrei*, tastatur, accesib*, 键盘, キーボード, 키보드
    """,
    "interaction": """
        click*, hover*, drag*, drop, swipe*, scroll*, tap, tapping, gesture*, zoom,
        keystroke*, cursor, typing, pull to refresh, autofocus, infinite scroll
    """,
    "displayed": """
        display*, shown, show, visible, invisible, hidden, hide, render, renders, rendered,
        rendering, rerender*, flicker*, blurry, truncated, wraps, wrap, misaligned,
        sichtbar, 显示, 表示
    """,
    "client state": """
        redux, vuex, pinia, zustand, hook, hooks, useeffect, usestate, props, prop,
        context provider, client state, state management, memoize, virtual dom, hydration,
        ssr, lazy load*, bundle size, bundle
    """,
    "browser": """
        browser*, localstorage, local storage, sessionstorage, session storage, indexeddb,
        service worker, single page app, spa, web client, client side, in the client,
        safari, chrome, firefox, silent refresh, axios, interceptor
    """,
    "translation": """
        i18n, l10n, locali*, translation*, rtl, right to left, internationali*
    """,
    # application
    "endpoint": """
        endpoint*, end point, api endpoint, route, routes, routing, controller*,
        request body, rest controller, request handler, resource, status code, response,
        responses, payload*, query parameter, query parameters, query param, endpunkt*,
        エンドポイント, 接口, 엔드포인트
    """,
    "http status": """
        400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429, 500, 502, 503, bad request,
        unauthorized, forbidden, not found
    """,
    "http": """
        http, https, rest, restful, rest api, get, post, put, patch, delete request, etag,
        cors, header value, content type, multipart, http api, web api, query string
    """,
    "api": """
        api, apis, graphql, grpc, rpc, openapi, swagger, soap, sdk, api gateway, gateway,
        resolver*, mutation, subscription field, public api, api client
    """,
    "contract": """
        contract*, versioning, version header, deprecat*, breaking change*,
        backward compat*, envelope, dto, dtos, serializer*, response format, v1, v2
    """,
    "paging": """
        pagination, paginat*, paging, cursor based, page size, sorting, filtering,
        sort order, list endpoint, ページネーション, 分页, paginación, 페이지네이션
    """,
    "middleware": """
        middleware*, interceptor, request pipeline, guard, guards, exception filter,
        action filter, dependency injection, ioc container, mediator, mediatr,
        command handler, query handler, event handler, cqrs, pipeline behavior,
        pipeline behaviour
    """,
    "service": """
        service, services, service layer, service class, business logic, use case*,
        application layer, orchestrat*, coordinator, backend, back end, server side,
        microservice*, dienst, servicio, サービス, 服务, 서비스
    """,
    "workflow": """
        workflow*, saga*, process manager, approval*, onboarding flow, multi step,
        state of the workflow, long running, pipeline step, business process, flow
    """,
    "job": """
        background job*, background service, background task*, background, job, jobs, cron,
        schedul*, worker*, task queue, periodic, nightly job, recurring, daemon,
        asynchronous*, async, hintergrund*, 后台, バックグラウンド, 백그라운드
    """,
    "messaging": """
        rate limit*, throttl*, attempts, max retries, subscribe*, subscriber*,
        graceful shutdown, concurrency, queue*, message bus, event bus, consumer*,
        producer*, publish event, pub sub, pubsub, dead letter, topic partition, idempoten*,
        message broker, integration event, retry, retries, backoff
    """,
    "webhook": """
        webhook*, callback url, web hook
    """,
    "notification": """
        notification*, notify, e mail*, email*, mail, mailer, smtp, sms, push message,
        reminder*, newsletter, benachrichtigung*, notificac*, 通知, 알림
    """,
    "sign in": """
        callback, state parameter, session, sessions, csrf state, remember me, impersonat*,
        sign in, signin, log in, login flow, login, logout, sign up, signup, oauth, oauth2,
        oidc, openid, sso, single sign, saml, ldap, authenticat*, two factor, 2fa, mfa,
        totp, identity provider, passkey*, magic link, password, passwords, anmeld*,
        autentic*, 登录, ログイン, 认证, 認証, 로그인, 인증
    """,
    "token": """
        token, tokens, jwt, jwts, access token*, refresh token*, bearer, session cookie,
        api key, api keys, expired token, revoked, 令牌, トークン, 토큰
    """,
    "permission": """
        permission*, authori*, role, roles, rbac, access control, privilege*, admin only,
        policy, policies, acl, 权限, 権限, 권한
    """,
    "integration": """
        third party, upstream, provider, integration with, connector*, external service,
        circuit breaker, timeout*, client library, payment provider, gateway timeout
    """,
    "caching": """
        cache*, caching, redis cache, memcache*, ttl, invalidat*, 缓存, キャッシュ, 캐시
    """,
    "upload": """
        upload*, download*, file upload, streaming, stream, export, import of, websocket*,
        server sent
    """,
    # domain
    "value object": """
        value object*, valueobject*, value type*, primitive obsession, strongly typed id*,
        immutab*, typed id*, obsession, 值对象, 値オブジェクト, 값 객체
    """,
    "domain model": """
        domain model*, domain driven, ddd, domain, aggregate*, aggregate root, entity,
        entities, bounded context*, ubiquitous language, domain event*, domain service*,
        domain layer, anemic, anaemic, specification pattern, invariant*, 领域, ドメイン,
        도메인
    """,
    "business rule": """
        business rule*, rule, rules, eligib*, must not, may not, may only, cannot, at most,
        at least, allowed, not allowed, constraint of, refuse*, forbid*, exceed*,
        policy for, regla de negocio, geschäftsregel*
    """,
    "state machine": """
        past due, suspended, trial, fsm, finite state, illegal state, invalid state,
        zustandsautomat, stornier*, state machine*, statemachine*, transition*, status,
        state change*, lifecycle, life cycle, cancel*, approve, approved, draft, shipped,
        shipment, refund*, pending, confirmed, illegal transition, estado, 状态机, 状態,
        キャンセル, 取消, 취소
    """,
    "money": """
        penny, pennies, instalment*, installment*, net, gross, tiền, money, amount, amounts,
        currenc*, price, prices, pricing, cent, cents, monetary, exchange rate*, balance,
        fee, fees, charge, charges, charged, betrag, importe, montant, precio, prix, 金额,
        金額, 価格, 价格, 금액, 가격
    """,
    "tax": """
        tax, taxes, vat, gst, sales tax, withholding, mehrwertsteuer, steuer, impuesto*,
        iva, tva, 税, 세금
    """,
    "discount": """
        discount*, coupon*, voucher*, promo*, cart rule*, gift card*, rabatt*, gutschein*,
        descuento*, remise, 优惠, 割引, 할인
    """,
    "calculation": """
        recalculat*, penalty, calculat*, comput*, round, rounds, rounded, rounding, prorat*,
        proration, percent, percentage, total, totals, subtotal, sum, formula, off by,
        arithmetic, interest, overtime, commission*, depreciation, wrong amount, berechn*,
        gerundet, cálculo, calcul, 计算, 計算, 계산
    """,
    "trade": """
        order, orders, cart, basket, checkout, invoice*, payment*, subscription*, billing,
        booking*, reservation*, shipping, stock, inventory, ledger, payout*, contract of,
        loan*, premium, deposit*, bestellung*, rechnung*, factura*, pedido*, commande, 订单,
        注文, 주문
    """,
    # persistence
    "database": """
        database*, db, sql, rdbms, data store, datastore, datenbank*, base de datos,
        base de données, 数据库, データベース, 데이터베이스
    """,
    "table": """
        upsert*, insert, duplicate key*, duplicate row*, constraint violation*, unique key,
        unique index, record, records, bảng, tabela, table, tables, column*, row, rows,
        primary key*, foreign key*, composite key, not null, nullable, unique constraint*,
        check constraint*, schema, tabelle*, spalte*, tabla, columna, 表, 字段, テーブル,
        カラム, 테이블, 컬럼
    """,
    "migration": """
        migrat*, backfill*, seed data, schema change*, changeset*, upgrade script,
        rollback migration, マイグレーション, 迁移, 마이그레이션
    """,
    "index": """
        index, indexes, indices, indexing, composite index, full text, table scan,
        sequential scan, index concurrently, explain, covering index, 索引, インデックス,
        인덱스, índice
    """,
    "query": """
        query, queries, select, join, joins, subquery, where clause, order by, group by,
        queryset, linq, statement, abfrage*, consulta*, requête, 查询, クエリ, 쿼리
    """,
    "eager loading": """
        n plus one, eager load*, lazy load*, eager, include, includes, fetch join,
        navigation propert*, preload*, joinedload, batch size, lazyinitializationexception
    """,
    "transaction": """
        transaction*, deadlock*, isolation, lock, locks, locked, locking, rollback*,
        rolled back, commit, savepoint, optimistic, pessimistic, unit of work, 事务,
        トランザクション, 트랜잭션
    """,
    "connection": """
        connection pool*, pool, connection, connections, exhausted, connection string,
        read replica, replica*, follower, wal
    """,
    "repository": """
        repository, repositories, repository pattern, dao, data access, data layer, orm,
        dbset, dbcontext, entitymanager, object relational, mapping, persist*, save, saved,
        stored, storage, リポジトリ, 레포지토리
    """,
    "stored logic": """
        stored procedure*, trigger, triggers, materialized view, partition*, vacuum,
        sharding, shard, tombstone*
    """,
    # tests
    "test": """
        test coverage, no tests, untested, regression checklist, test, tests, testing,
        tested, test case*, test suite*, testsuite, tdd, specs, specfile,
        tests schreiben, prueba*, unittest, 测试, テスト, 테스트
    """,
    "test kind": """
        unit test*, integration test*, end to end, e2e, smoke test*, regression test*,
        acceptance test*, contract test*, component test*, snapshot test*, load test*,
        browser test*, property based, mutation test*, visual regression
    """,
    "test double": """
        mock, mocks, mocked, mocking, stub, stubs, stubbed, spy, spies, fake, fakes,
        fixture*, factory boy, monkeypatch, test data, golden file*, conftest, cassette*,
        フィクスチャ, 픽스처, モック
    """,
    "coverage": """
        coverage, covered by, code coverage, cover, カバレッジ, 覆盖率, 커버리지
    """,
    "flaky": """
        wait, waits, waiting, hard coded wait*, auto waiting, flaky, flakiness, flake,
        intermittent test*, deterministic, sleep, instab*, nondeterministic
    """,
    "fuzzing": """
        fuzz*, quickcheck, proptest*, property test*, corpus, libfuzzer, afl
    """,
    "assertion": """
        assert*, parametri*, test runner, expect, data provider*
    """,
    # docs
    "document": """
        article, blog post, user guide, developer guide, explained, walkthrough,
        best practices, section about, tài liệu, documentação, docs site, page about,
        documentation, docs, doc, document, documented, documenting, undocumented, manual,
        handbook, guide, guides, tutorial*, howto, how to, wiki, chapter, book, faq,
        glossary, runbook*, dokumentation, documentación, 文档, 文書, ドキュメント, 문서,
        説明
    """,
    "readme": """
        readme, contributing, changelog, license, licence, code of conduct, release note*,
        getting started, quick start, quickstart, setup instruction*,
        installation instruction*, install instruction*, installation guide
    """,
    "diagram": """
        diagram*, sequence diagram*, c4, uml, mermaid, plantuml, data flow diagram, dfd,
        erd, flowchart*, whiteboard
    """,
    "decision record": """
        adr, adrs, decision record*, architecture decision, rfc, design doc*,
        architecture overview, specification, proposal, threat model, template
    """,
    "wording": """
        typo*, spelling, grammar, wording, broken link*, link, links, dead link*,
        screenshot*, outdated, out of date, clarify, tippfehler, fautes, 誤字, 오타
    """,
    "reference": """
        api reference, api documentation, api docs, reference documentation, docstring*,
        javadoc, jsdoc, example in, examples, code sample*, comment in,
        should be documented, nothing is said
    """,
    # deployment
    "pipeline": """
        ci, cd, ci cd, pipeline, pipelines, continuous integration, continuous delivery,
        continuous deployment, build job, workflow file, action, actions, runner, runners,
        self hosted, artefact*, artifact*, canalización, 持续集成, パイプライン, 파이프라인
    """,
    "build": """
        build, builds, compile, cross compile, packaging, package, bundle, publish,
        release*, nightly build*, tag pattern, semantic release, bump, ビルド, 构建, 빌드,
        リリース
    """,
    "deploy": """
        deploy*, rollout*, staging, production, prod, environment, environments,
        preview environment, blue green, canary, hosting, despleg*, déploiement, デプロイ,
        部署, 배포
    """,
    "container": """
        container*, image, docker image*, base image, entrypoint, registry, multi stage,
        compose, pod, pods, 镜像, コンテナ, 컨테이너
    """,
    "cluster": """
        cluster*, ingress, autoscal*, readiness, liveness, probe, namespace, node pool,
        chart, charts, kustomize, replicas, daemon set, statefulset, evicted, load balancer,
        reverse proxy
    """,
    "infrastructure": """
        systemd unit, unit file, triển khai, infrastructure, infra, provision*, iac,
        infrastructure as code, vpc, subnet*, dns, bucket, vm, virtual machine,
        server setup, workspace, systemd, インフラ, 基础设施, 인프라
    """,
    "monitoring": """
        monitor*, alert*, observab*, metric*, dashboard*, log shipping, tracing, telemetry,
        uptime, on call, paging duty, scrape, überwachung, 监控, 監視, 모니터링
    """,
    "signing": """
        code sign*, codesign*, signing, signed, unsigned, notari*, gatekeeper, smartscreen,
        certificate*, cosign, sbom, provenance
    """,
    "installer": """
        scoop, disk image, debian package, deb package, installer*, msi, dmg, appimage, deb,
        rpm, flatpak, snap, homebrew, winget, play store, app store, testflight,
        package manager*, distribution
    """,
    "secrets": """
        secret, secrets, deploy key*, vault, env var*, environment variable*, credentials,
        .env
    """,
    # across the layers
    "security": """
        security, secur*, vulnerab*, attack*, exploit*, encrypt*, hash, hashed, csrf, ssrf,
        sanitiz*, sanitis*, escap*, unescaped, sql injection, injection, brute force,
        hardening, cve, owasp, sicherheit*, seguridad, 安全, セキュリティ, 보안
    """,
    "script injection": """
        script tag*, raw html, xss, cross site script*, script injection, innerhtml,
        dangerouslysetinnerhtml, v html, malicious script*
    """,
    "speed": """
        full scan, one query for each, scans the, performance, slow*, speed, latency,
        throughput, fast, faster, optimi*, bottleneck*, memory leak*, memory usage, cpu,
        seconds, response time*, load time*, benchmark*, stutter*, profil*, langsam*, lent,
        lenta, lento, rendimiento, 性能, 慢, 遅い, パフォーマンス, 성능, 느린
    """,
    "validation": """
        validat*, valid, invalid, input validation, malformed, reject*, required field*
    """,
}
"""Each concept's terms."""

TECHNOLOGIES: dict[str, str] = {
    "interface framework": """
        React=reactjs=react.js, React Native, Vue=vuejs=vue.js, Angular, AngularJS, Svelte,
        SvelteKit, Next.js=nextjs, Nuxt, Solid.js, Preact, Ember, jQuery, Bootstrap,
        Tailwind=tailwindcss=tailwind css, Material UI=mui, Chakra UI, Ant Design,
        Storybook, Sass=scss, Flutter, SwiftUI, UIKit, Jetpack Compose, Xamarin,
        .NET MAUI=maui, WPF, WinForms, Qt, PySide, PyQt, GTK, Electron, Tauri, Blazor,
        Redux, Vite, webpack, HTML=html5, CSS=css3, D3=d3.js
    """,
    "language": """
        TypeScript, JavaScript, Python, Java, Kotlin, Swift, C#=csharp, C++=cpp, Rust,
        Go=golang, Ruby, PHP, Scala, Elixir, Dart, Objective-C, Haskell, Clojure, Lua, Perl,
        Bash, PowerShell
    """,
    "server framework": """
        Django, Flask, FastAPI, Spring Boot, Spring, Express=express.js, NestJS,
        Node.js=node=nodejs, Ruby on Rails=rails, Laravel, Symfony,
        ASP.NET=asp.net core=asp net, .NET=dotnet, Phoenix, Gin, Quarkus, Micronaut, Hono,
        Fastify, Koa, Actix, Axum, Deno, Bun
    """,
    "queue": """
        Kafka, RabbitMQ, Celery, Sidekiq, Temporal, Hangfire, NATS, SQS, MassTransit,
        BullMQ=bull, Airflow, Quartz
    """,
    "protocol": """
        GraphQL, gRPC, OpenAPI, Swagger, REST, WebSocket, OAuth=oauth2, JWT, SAML, LDAP,
        OpenID Connect=oidc, MQTT
    """,
    "store": """
        PostgreSQL=postgres=psql, MySQL, MariaDB, SQLite, MongoDB=mongo, Oracle,
        SQL Server=mssql, Cassandra, DynamoDB, Elasticsearch, ClickHouse, Supabase,
        Firestore, Neo4j, CockroachDB, SQL
    """,
    "cache store": """
        Redis, Memcached, Valkey
    """,
    "object mapping": """
        Hibernate, JPA, SQLAlchemy, Alembic,
        Entity Framework=ef core=efcore=entity framework core, Dapper, Prisma, TypeORM,
        Sequelize, Drizzle, Knex, Mongoose, ActiveRecord, Flyway, Liquibase, jOOQ, MyBatis,
        Doctrine, psycopg=psycopg2, GORM, Diesel, Spring Data, MikroORM
    """,
    "test tool": """
        pytest, unittest, JUnit, Jest, Vitest, Mocha, Cypress, Playwright, Selenium,
        Puppeteer, Testing Library, RSpec, PHPUnit, xUnit, NUnit, Mockito, Testcontainers,
        WireMock, Hypothesis, k6, Locust, JMeter, Gatling, Stryker, Karma, Jasmine, Detox,
        Appium, Pact, cargo-fuzz=cargo fuzz, libFuzzer, Cucumber, Pester,
        pytest-mock=pytest mock, Test::Unit, Espresso, XCTest, XCUITest, Supertest,
        Schemathesis
    """,
    "documentation tool": """
        MkDocs, Sphinx, Docusaurus, Read the Docs=readthedocs, Javadoc, VitePress, Mermaid,
        PlantUML, AsciiDoc, GitBook, Doxygen, DocFX
    """,
    "delivery tool": """
        Docker, Docker Hub=dockerhub, Docker Compose=docker-compose, Podman, Kubernetes=k8s,
        Helm, Terraform, Pulumi, Ansible, Bicep, CloudFormation,
        GitHub Actions=github action=gh actions, GitLab CI, Jenkins, CircleCI,
        Argo CD=argocd, Nginx, Traefik, Azure DevOps, Vercel, Netlify, Heroku, Fly.io,
        PyInstaller, Fastlane, semantic-release, Dependabot, cert-manager, Homebrew,
        systemd, Bazel, Gradle, Maven, AKS, EKS, GKE
    """,
    "cloud": """
        AWS, Azure, Google Cloud=gcp, Cloudflare, DigitalOcean, S3, Lambda, EC2, RDS,
        CloudFront
    """,
    "monitoring tool": """
        Prometheus, Grafana, Alertmanager=alert manager, Datadog, Loki, OpenTelemetry=otel,
        Sentry, New Relic, Jaeger, CloudWatch, Splunk, Zabbix, Nagios, Kibana
    """,
    "platform": """
        Windows, macOS=mac os, Linux, Android, iOS, iPadOS, iPhone, iPad
    """,
}
"""Technologies by what naming them suggests."""

_STOP_WORDS = """
    a about above after again all also always an and another any are as at be because
    been before being below between both but by can could did do does doing don down
    during each every few for from further had has have having he her here him his how i
    if in into is it its just let like made make makes many may me might more most much
    must my need needs never new no nor not now of off often on once one only or other
    our out over own per please same she should since so some still such than that the
    their them then there these they thing things this those through to too under until
    up us use used uses using very want wants was we were what when where which while
    who whom why will with within without would yet you your fix add added adds adding
    get gets got change changed changes update updated updates support feature bug issue
    feat chore refactor implement implemented der die das den dem des ein eine einen
    einem einer und oder nicht ist sind mit auf für von im am zu el la los las un una
    unos unas y o es con en de del por para que se al lo le les et ou ne pas est dans du
    au aux sur pour
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that say nothing of what a task is about: English, German, Spanish, French."""
