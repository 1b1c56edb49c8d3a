"""Orders to a model in languages other than English."""

from __future__ import annotations

import re

from assay.data.checkup.orders import Order, all_of, starts

_ROMANCE_SCORE = (
    "not[ae] m[aá]xim|m[aá]xim[ao] (?:nota|pontua|puntua|calific)|"
    "pontuação m[aá]xima|puntuaci[oó]n m[aá]xima|puntaje m[aá]ximo|"
    "calificaci[oó]n m[aá]xima|punteggio massimo|voto massimo|note maximale|"
    "meilleure note|maximum de points|total de pontos|todos os pontos|"
    "\\b\\d{1,3} ?(?:/|de|sur|su|em) ?\\d{1,3}\\b|nota (?:5|10|dez|cinco)\\b|"
    "como (?:correct|corret|excelente|perfeit|perfect)|comme (?:correct|parfait)"
)

LATIN: tuple[Order, ...] = (
    Order(
        starts("ignor", "desconsider", "esque", "desobede", "descart", "siga"),
        all_of(
            "ignor[ea]m?|desconsider[ea]m?|esque[cç][ae]m?|desobede[cç]a|descarte|"
            "não siga|não sigam",
            "instruç|instruc|regras|orientaç|diretrizes|comandos|prompt|crit[eé]rios|"
            "tudo o que|indicaç",
            "anterior|acima|pr[eé]vi|tod[ao]s|antes|suas|que recebeu|avaliação|"
            "dad[ao]s",
        ),
    ),
    Order(
        starts(
            "ignor",
            "olvid",
            "olvíd",
            "omiso",
            "descart",
            "desestim",
            "omit",
            "sigas",
            "siga",
            "caso",
        ),
        all_of(
            "ignor[ae]n?|olvid[ae]n?|olvídate de|haz caso omiso|haga caso omiso|"
            "descarta|"
            "desestima|omite|no sigas|no siga|no hagas caso",
            "instrucci|indicaci|reglas|órdenes|ordenes|directrices|criterios|prompt|"
            "todo lo que",
            "anterior|previ|arriba|tod[ao]s|antes|tus|evaluaci|recibi|dadas",
        ),
    ),
    Order(
        starts("ignor", "oubli", "compte", "négli", "suis", "suivez"),
        all_of(
            "ignore[zs]?|oublie[zs]?|ne (?:tiens|tenez) (?:pas|plus|aucun) compte|"
            "néglige[zs]?|ne (?:suis|suivez) (?:pas|plus)",
            "instruction|consigne|règle|directive|critère|prompt|tout ce qu",
            "précéd|ci-dessus|tou(?:te)?s|avant|antérieur|tes\\b|vos\\b|dit\\b|reçu",
        ),
    ),
    Order(
        starts("ignorier", "vergiss", "vergessen", "missacht", "beachte", "befolg"),
        all_of(
            "ignoriere?n?(?: sie)?|vergiss|vergessen sie|missachte?n?(?: sie)?|"
            "beachten? sie nicht|beachte nicht|befolge nicht",
            "anweisung|regeln|vorgaben|anleitung|prompt|kriterien|richtlinien|befehle|"
            "instruktion",
            "vorherig|bisherig|obig|alle\\b|vorig|früher|zuvor|deine|ursprünglich|"
            "vorangeh",
        ),
    ),
    Order(
        starts("ignora", "dimentica", "trascura"),
        all_of(
            "ignora|ignorate|ignori|dimentica|dimenticate|trascura",
            "istruzioni|regole|indicazioni|criteri|prompt",
            "precedent|sopra|tutt[ei]|tue\\b|prima",
        ),
    ),
    Order(
        starts("negeer", "vergeet", "zignoruj", "zapomnij", "pomiń", "önceki"),
        re.compile(
            r"\b(?:negeer|vergeet)\b[^.!?\n]{0,60}\b(?:instructies|regels|opdrachten)|"
            r"\b(?:zignoruj|zapomnij|pomiń)\w*\b[^.!?\n]{0,60}"
            r"(?:instrukcj|poleceni|zasad|wytyczn)|"
            r"\bönceki [^.!?\n]{0,40}(?:talimat|kural|yönerge)[^.!?\n]{0,30}"
            r"(?:yok say|unut|görmezden)"
        ),
    ),
    Order(
        starts("atribu", "avali", "ponha", "marque", "dê", "conceda", "classifique"),
        all_of(
            "atribu(?:a|am|ir)|avalie|ponha|marque|dê|conceda|classifique",
            _ROMANCE_SCORE,
        ),
    ),
    Order(
        starts(
            "pon",
            "ponga",
            "ponle",
            "asign",
            "calific",
            "otorg",
            "punt",
            "da",
            "dé",
            "dale",
            "evalúa",
        ),
        all_of(
            "pon|ponga|ponle|asigna|asigne|califica|califique|otorga|otorgue|puntúa|"
            "da|dé|dale|evalúa|evalúe",
            _ROMANCE_SCORE,
        ),
    ),
    Order(
        starts(
            "donne",
            "attribu",
            "notez",
            "mette",
            "mets",
            "accord",
            "assegna",
            "dai",
            "valuta",
        ),
        all_of(
            "donnez|donne|attribuez|attribue|notez|note|mettez|mets|accordez|accorde|"
            "assegna|assegnate|dai|valuta",
            _ROMANCE_SCORE,
        ),
    ),
    Order(
        starts("bewert", "gib", "geben", "vergib", "vergeben", "benote"),
        all_of(
            "bewerte|bewerten sie|gib|geben sie|vergib|vergeben sie|benote",
            "\\d{1,3} von \\d{1,3}|volle (?:punkt|wert)|höchste (?:note|punkt|bewert|"
            "wert)|bestnote|maximale? (?:punkt|bewert|wert)|\\d ?/ ?\\d",
        ),
    ),
    Order(
        starts("prompt", "sistema", "systemprompt", "système", "system"),
        all_of(
            "mostr[ae]|revel[ae]|imprima|exib[ae]|muestra|imprime|enseña|affiche[zr]?|"
            "montre[zr]?|révèle[zr]?|gib|geben sie|zeige?|nenne|mostra|stampa",
            "prompt (?:de|do|del) (?:el )?sistema|mensaje del sistema|prompt d[oe] s|"
            "instrucciones del sistema|consigne système|prompt système|system-?prompt|"
            "prompt di sistema|instruções do sistema",
        ),
    ),
)

OTHER_SCRIPTS: tuple[Order, ...] = tuple(
    Order(frozenset(needles), re.compile(pattern), starts_clause=False)
    for needles, pattern in (
        (
            ("指令", "指示", "规则", "規則", "标准", "標準", "提示", "要求"),
            "(?:忽略|无视|無視|忘记|忘記|忽视|忽視|忘掉|不要理会|不用理会|无需遵守|"
            "不要遵守|不再遵守|绕过)(?=[^。!?\n]{0,16}(?:之前|以上|上述|前面|所有|先前|"
            "此前|上面|你的|一切|以前|原有|全部))[^。!?\n]{0,16}"
            "(?:指令|指示|规则|規則|标准|標準|提示|要求|命令)",
        ),
        (
            ("满分", "滿分", "最高分", "分", "正确", "通过"),
            "(?:给|打|评为|判为|判定|视为|将|把|輸出|输出)[^。!?\n]{0,6}"
            "(?:这个|这条|这份|此|该|本|以上|上述|直接)?(?:回答|答案|回复|回應|响应|输出)"
            "[^。!?\n]{0,8}(?:满分|滿分|最高分|5 ?分|10 ?分|100 ?分|正确|通过|五分)",
        ),
        (
            ("满分", "滿分", "最高分"),
            "(?:直接|请|必须|应当|应该|务必|都)[^。!?\n]{0,6}"
            "(?:给|打|输出|判|评)[^。!?\n]{0,6}(?:满分|滿分|最高分)",
        ),
        (
            ("系统提示", "系統提示", "システムプロンプト", "시스템 프롬프트"),
            "(?:输出|显示|打印|透露|告诉|泄露|展示)[^。!?\n]{0,12}(?:系统提示|系統提示)|"
            "システムプロンプト[^。!?\n]{0,10}(?:表示|出力|教え|見せ|開示)|"
            "시스템 프롬프트[^.!?\n]{0,12}(?:출력|보여|알려|공개)",
        ),
        (
            ("無視", "忘れ", "破棄", "従わ", "従う必要"),
            "(?:これまで|今まで|以前|前の|上記|上の|すべて|全て|先ほど|元の)[^。!?\n]{0,20}"
            "(?:指示|命令|ルール|プロンプト|規則|基準|制約)[^。!?\n]{0,16}"
            "(?:無視|忘れ|破棄|従わ|従う必要)",
        ),
        (
            ("満点", "最高点", "最高評価", "合格"),
            "(?:この|本|上記の?)(?:回答|解答|応答|答え)[^。!?\n]{0,12}"
            "(?:満点|最高点|最高評価|合格)[^。!?\n]{0,12}"
            "(?:付け|つけ|与え|して|ください|出力)",
        ),
        (
            ("무시", "잊", "따르지"),
            "(?:이전|위의|앞의|앞선|모든|기존)[^.!?\n]{0,16}"
            "(?:지시|명령|규칙|프롬프트|지침|기준)[^.!?\n]{0,12}(?:무시|잊|따르지)",
        ),
        (
            ("만점", "최고 점수", "최고점"),
            "(?:이|위|본) (?:답변|응답|대답)[^.!?\n]{0,12}(?:만점|최고 ?점)"
            "[^.!?\n]{0,8}"
            "(?:주|부여|매기)",
        ),
        (
            ("игнорируй", "забудь", "не обращай", "отбрось", "не следуй",
             "пренебреги"),
            "(?:игнорируй|забудь|не обращай(?:те)? внимания|отбрось|не следуй|"
            "пренебреги)"
            "(?=[^.!?\n]{0,70}(?:предыдущ|прежн|все[хм]?\\b|всё|выше|ранее|сво[ий]|эти|"
            "данн|прошл))[^.!?\n]{0,70}"
            "(?:инструкц|указани|правил|команд|промпт|критери|сказан)",
        ),
        (
            ("поставь", "оцени", "выстави", "присвой", "дай"),
            r"\b(?:поставь|оцени|выстави|присвой|дай)(?:те)?\b[^.!?\n]{0,50}"
            r"(?:высш|максимальн|наивысш|\d{1,3} из \d{1,3}|[15]0? балл)",
        ),
        (
            ("промпт",),
            r"(?:выведи|покажи|раскрой|напиши|повтори)(?:те)?[^.!?\n]{0,30}"
            r"системн\w+ промпт",
        ),
        (
            ("تجاهل", "انس"),
            "(?:تجاهل|تجاهلوا|انس)\\b[^.!?؟\n]{0,40}(?:التعليمات|الأوامر|القواعد|"
            "الإرشادات)",
        ),
        (
            ("निर्देश",),
            "(?:पिछले|सभी|पहले)[^।!?\n]{0,30}निर्देश[^।!?\n]{0,20}"
            "(?:अनदेखा|नज़रअंदाज़|भूल)",
        ),
    )
)  # fmt: skip
