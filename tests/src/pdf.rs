//! PDF files.

/// A file with these objects, numbered from one; the first is its catalog.
pub fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        file.extend(format!("{} 0 obj\n", n + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let start = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for offset in &offsets {
        file.extend(format!("{offset:010} 00000 n \n").bytes());
    }
    let size = objects.len() + 1;
    file.extend(format!("trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes());
    file
}

/// A paper of these pages in Helvetica: lines from top to bottom, each with its size in points.
pub fn paper(pages: &[&[(u32, &str)]]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|nth| format!("{} 0 R", 4 + nth * 2)).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Count {} /Kids [{}] >>", pages.len(), kids.join(" ")).into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
    ];
    for (nth, lines) in pages.iter().enumerate() {
        let line = |(at, (size, words)): (usize, &(u32, &str))| {
            format!("BT /F {size} Tf 50 {} Td ({words}) Tj ET\n", 740 - at * 30)
        };
        let content: String = lines.iter().enumerate().map(line).collect();
        let page = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R \
             /Resources << /Font << /F 3 0 R >> >> >>",
            5 + nth * 2
        );
        objects.push(page.into_bytes());
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()).into_bytes());
    }
    file(&objects)
}
